export interface paths {
    "/pets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all animals
         * @description Requires an API key with the scope `pets:read`.
         */
        get: operations["listPets"];
        put?: never;
        /**
         * Add an animal
         * @description Requires an API key with the scope `pets:write`.
         */
        post: operations["createPet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an animal
         * @deprecated
         * @description Requires an API key with the scope `pets:read`. Deprecated since 2026-11-20. From 2030-12-05 on it returns 410. Use `GET /pets` instead.
         */
        get: operations["getPet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description Availability of an animal
         * @example available
         * @enum {string}
         */
        PetStatus: "available" | "pending" | "sold";
        /**
         * @description An animal to add. Other members are ignored
         * @example {
         *       "name": "Rex",
         *       "categoryId": 1,
         *       "status": "available"
         *     }
         */
        NewPet: {
            /** @description Name of the animal */
            name: string;
            /**
             * Format: int64
             * @description Id of the category that the animal belongs to: any 64-bit integer, returned digit for digit
             */
            categoryId: number;
            /** @description Availability of the animal. Default: `available` */
            status?: components["schemas"]["PetStatus"];
        };
        /**
         * @description An animal
         * @example {
         *       "id": 114677519594330,
         *       "name": "Rex",
         *       "categoryId": 1,
         *       "status": "available"
         *     }
         */
        Pet: {
            /**
             * Format: int64
             * @description Id of the animal, assigned by the service: at most 2^53 - 1
             */
            id: number;
            /** @description Name of the animal */
            name: string;
            /**
             * Format: int64
             * @description Id of the category that the animal belongs to: any 64-bit integer, returned digit for digit
             */
            categoryId: number;
            /** @description Availability of the animal */
            status: components["schemas"]["PetStatus"];
        };
        /**
         * @description Animals in ascending order of id
         * @example [
         *       {
         *         "id": 114677519594330,
         *         "name": "Rex",
         *         "categoryId": 1,
         *         "status": "available"
         *       }
         *     ]
         */
        Pets: components["schemas"]["Pet"][];
        /**
         * @description The body of every error
         * @example {
         *       "code": "not_found",
         *       "message": "The requested resource could not be found.",
         *       "status": 404
         *     }
         */
        Error: {
            /**
             * @description The kind of error, from a closed set
             * @enum {string}
             */
            code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "gone" | "payload_too_large" | "unsupported_media_type" | "idempotency_mismatch" | "too_many_requests" | "internal_error" | "unavailable" | "timeout";
            /** @description For people. Not part of the contract */
            message: string;
            /**
             * Format: int32
             * @description The HTTP status code
             */
            status: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPets: {
        parameters: {
            query?: {
                /** @description Maximum number of animals to return */
                limit?: number;
                /** @description Only animals with this status */
                status?: components["schemas"]["PetStatus"];
                /** @description Start of the page: an opaque value from the Link header of another page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of animals in ascending order of id */
            200: {
                headers: {
                    /** @description URL of the next page with rel="next" (RFC 8288). The last page has none */
                    Link?: string;
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 114677519594330,
                     *         "name": "Rex",
                     *         "categoryId": 1,
                     *         "status": "available"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Pets"];
                };
            };
            /** @description The request is not valid. */
            400: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "invalid_request",
                     *       "message": "The request is not valid.",
                     *       "status": 400
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The API key is missing or invalid. Send it as 'Authorization: Bearer <API_KEY>'. */
            401: {
                headers: {
                    /**
                     * @description How to authenticate (RFC 6750)
                     * @example Bearer realm="animal-store"
                     */
                    "WWW-Authenticate": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "unauthorized",
                     *       "message": "The API key is missing or invalid. Send it as 'Authorization: Bearer <API_KEY>'.",
                     *       "status": 401
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The API key does not have the scope that this operation needs. */
            403: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "forbidden",
                     *       "message": "The API key does not have the scope that this operation needs.",
                     *       "status": 403
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests. Retry after the number of seconds in Retry-After. */
            429: {
                headers: {
                    /**
                     * @description Seconds to wait before a retry (RFC 9110, 10.2.3)
                     * @example 1
                     */
                    "Retry-After": number;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "too_many_requests",
                     *       "message": "Too many requests. Retry after the number of seconds in Retry-After.",
                     *       "status": 429
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something went wrong on our side. */
            500: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control"?: string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "internal_error",
                     *       "message": "Something went wrong on our side.",
                     *       "status": 500
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The service is unavailable for the moment. Retry after the number of seconds in Retry-After. */
            503: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control"?: string;
                    /**
                     * @description Seconds to wait before a retry (RFC 9110, 10.2.3)
                     * @example 1
                     */
                    "Retry-After": number;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "unavailable",
                     *       "message": "The service is unavailable for the moment. Retry after the number of seconds in Retry-After.",
                     *       "status": 503
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The service did not respond in time. Retry the request. */
            504: {
                headers: {
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "timeout",
                     *       "message": "The service did not respond in time. Retry the request.",
                     *       "status": 504
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error, such as the 404 of an unknown path or the 405 of an unknown method */
            default: {
                headers: {
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes retries safe: for 24 hours, a request with the same key returns the animal that the first one added. Send a new UUID for each animal */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Rex",
                 *       "categoryId": 1,
                 *       "status": "available"
                 *     }
                 */
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            /** @description The animal was added */
            201: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 114677519594330,
                     *       "name": "Rex",
                     *       "categoryId": 1,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description The request is not valid. */
            400: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "invalid_request",
                     *       "message": "The request is not valid.",
                     *       "status": 400
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The API key is missing or invalid. Send it as 'Authorization: Bearer <API_KEY>'. */
            401: {
                headers: {
                    /**
                     * @description How to authenticate (RFC 6750)
                     * @example Bearer realm="animal-store"
                     */
                    "WWW-Authenticate": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "unauthorized",
                     *       "message": "The API key is missing or invalid. Send it as 'Authorization: Bearer <API_KEY>'.",
                     *       "status": 401
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The API key does not have the scope that this operation needs. */
            403: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "forbidden",
                     *       "message": "The API key does not have the scope that this operation needs.",
                     *       "status": 403
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request body is too large. It can have at most 16 KiB. */
            413: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "payload_too_large",
                     *       "message": "The request body is too large. It can have at most 16 KiB.",
                     *       "status": 413
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request body must be sent as 'Content-Type: application/json', without a Content-Encoding. */
            415: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "unsupported_media_type",
                     *       "message": "The request body must be sent as 'Content-Type: application/json', without a Content-Encoding.",
                     *       "status": 415
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description This Idempotency-Key was used for a request with another body. */
            422: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "idempotency_mismatch",
                     *       "message": "This Idempotency-Key was used for a request with another body.",
                     *       "status": 422
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests. Retry after the number of seconds in Retry-After. */
            429: {
                headers: {
                    /**
                     * @description Seconds to wait before a retry (RFC 9110, 10.2.3)
                     * @example 1
                     */
                    "Retry-After": number;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "too_many_requests",
                     *       "message": "Too many requests. Retry after the number of seconds in Retry-After.",
                     *       "status": 429
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something went wrong on our side. */
            500: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control"?: string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "internal_error",
                     *       "message": "Something went wrong on our side.",
                     *       "status": 500
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The service is unavailable for the moment. Retry after the number of seconds in Retry-After. */
            503: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control"?: string;
                    /**
                     * @description Seconds to wait before a retry (RFC 9110, 10.2.3)
                     * @example 1
                     */
                    "Retry-After": number;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "unavailable",
                     *       "message": "The service is unavailable for the moment. Retry after the number of seconds in Retry-After.",
                     *       "status": 503
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The service did not respond in time. Retry the request. */
            504: {
                headers: {
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "timeout",
                     *       "message": "The service did not respond in time. Retry the request.",
                     *       "status": 504
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error, such as the 404 of an unknown path or the 405 of an unknown method */
            default: {
                headers: {
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the animal */
                petId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The animal */
            200: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description When the operation became deprecated (RFC 9745)
                     * @example @1795132800
                     */
                    Deprecation: string;
                    /**
                     * @description When the operation stops working (RFC 8594)
                     * @example Thu, 05 Dec 2030 00:00:00 GMT
                     */
                    Sunset: string;
                    /** @description URL of the successor with rel="successor-version" (RFC 5829) */
                    Link: string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 114677519594330,
                     *       "name": "Rex",
                     *       "categoryId": 1,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description The API key is missing or invalid. Send it as 'Authorization: Bearer <API_KEY>'. */
            401: {
                headers: {
                    /**
                     * @description How to authenticate (RFC 6750)
                     * @example Bearer realm="animal-store"
                     */
                    "WWW-Authenticate": string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "unauthorized",
                     *       "message": "The API key is missing or invalid. Send it as 'Authorization: Bearer <API_KEY>'.",
                     *       "status": 401
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The API key does not have the scope that this operation needs. */
            403: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description When the operation became deprecated (RFC 9745)
                     * @example @1795132800
                     */
                    Deprecation: string;
                    /**
                     * @description When the operation stops working (RFC 8594)
                     * @example Thu, 05 Dec 2030 00:00:00 GMT
                     */
                    Sunset: string;
                    /** @description URL of the successor with rel="successor-version" (RFC 5829) */
                    Link: string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "forbidden",
                     *       "message": "The API key does not have the scope that this operation needs.",
                     *       "status": 403
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The requested resource could not be found. */
            404: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description When the operation became deprecated (RFC 9745)
                     * @example @1795132800
                     */
                    Deprecation: string;
                    /**
                     * @description When the operation stops working (RFC 8594)
                     * @example Thu, 05 Dec 2030 00:00:00 GMT
                     */
                    Sunset: string;
                    /** @description URL of the successor with rel="successor-version" (RFC 5829) */
                    Link: string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "not_found",
                     *       "message": "The requested resource could not be found.",
                     *       "status": 404
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description This operation has been removed. The Link header names its successor. */
            410: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description When the operation became deprecated (RFC 9745)
                     * @example @1795132800
                     */
                    Deprecation: string;
                    /**
                     * @description When the operation stops working (RFC 8594)
                     * @example Thu, 05 Dec 2030 00:00:00 GMT
                     */
                    Sunset: string;
                    /** @description URL of the successor with rel="successor-version" (RFC 5829) */
                    Link: string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "gone",
                     *       "message": "This operation has been removed. The Link header names its successor.",
                     *       "status": 410
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests. Retry after the number of seconds in Retry-After. */
            429: {
                headers: {
                    /**
                     * @description Seconds to wait before a retry (RFC 9110, 10.2.3)
                     * @example 1
                     */
                    "Retry-After": number;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "too_many_requests",
                     *       "message": "Too many requests. Retry after the number of seconds in Retry-After.",
                     *       "status": 429
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something went wrong on our side. */
            500: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control"?: string;
                    /**
                     * @description When the operation became deprecated (RFC 9745)
                     * @example @1795132800
                     */
                    Deprecation?: string;
                    /**
                     * @description When the operation stops working (RFC 8594)
                     * @example Thu, 05 Dec 2030 00:00:00 GMT
                     */
                    Sunset?: string;
                    /** @description URL of the successor with rel="successor-version" (RFC 5829) */
                    Link?: string;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "internal_error",
                     *       "message": "Something went wrong on our side.",
                     *       "status": 500
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The service is unavailable for the moment. Retry after the number of seconds in Retry-After. */
            503: {
                headers: {
                    /**
                     * @description Responses must not be cached
                     * @example no-store
                     */
                    "Cache-Control"?: string;
                    /**
                     * @description When the operation became deprecated (RFC 9745)
                     * @example @1795132800
                     */
                    Deprecation?: string;
                    /**
                     * @description When the operation stops working (RFC 8594)
                     * @example Thu, 05 Dec 2030 00:00:00 GMT
                     */
                    Sunset?: string;
                    /** @description URL of the successor with rel="successor-version" (RFC 5829) */
                    Link?: string;
                    /**
                     * @description Seconds to wait before a retry (RFC 9110, 10.2.3)
                     * @example 1
                     */
                    "Retry-After": number;
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "unavailable",
                     *       "message": "The service is unavailable for the moment. Retry after the number of seconds in Retry-After.",
                     *       "status": 503
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The service did not respond in time. Retry the request. */
            504: {
                headers: {
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "timeout",
                     *       "message": "The service did not respond in time. Retry the request.",
                     *       "status": 504
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error, such as the 404 of an unknown path or the 405 of an unknown method */
            default: {
                headers: {
                    /** @description Id of the request. Include it in problem reports */
                    "x-amzn-RequestId"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
