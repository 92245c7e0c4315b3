import { BODY_LIMIT } from "./limits.ts";

/**
 * Every error that a client can get: its code, HTTP status, public message and headers. Source: contract 7.2 and 7.4.
 * The set of codes is closed; README.md lists it for clients.
 */
export const errors = {
  invalid_request: { status: 400, message: "The request is not valid." },
  unauthorized: {
    status: 401,
    message: "The API key is missing or invalid. Send it as 'Authorization: Bearer <API_KEY>'.",
    headers: { "WWW-Authenticate": 'Bearer realm="animal-store"' }, // contract 6.2
  },
  forbidden: { status: 403, message: "The API key does not have the scope that this operation needs." },
  not_found: { status: 404, message: "The requested resource could not be found." },
  method_not_allowed: {
    status: 405,
    message: "The resource does not support this method. The Allow header lists the supported methods.",
  },
  gone: { status: 410, message: "This operation has been removed. The Link header names its successor." },
  payload_too_large: {
    status: 413,
    message: `The request body is too large. It can have at most ${BODY_LIMIT / 1024} KiB.`,
  },
  unsupported_media_type: {
    status: 415,
    message:
      "Send the body as JSON in UTF-8, with one 'Content-Type: application/json' and without a Content-Encoding.",
  },
  idempotency_mismatch: {
    status: 422,
    message: "This Idempotency-Key was used to add a different animal.",
  },
  too_many_requests: {
    status: 429,
    message: "Too many requests. Retry after the number of seconds in Retry-After.",
    headers: { "Retry-After": "1" },
  },
  internal_error: { status: 500, message: "Something went wrong on our side." },
  unavailable: {
    status: 503,
    message: "The service is unavailable for the moment. Retry after the number of seconds in Retry-After.",
    headers: { "Retry-After": "1" },
  },
  timeout: { status: 504, message: "The service did not respond in time. Retry the request." },
} as const satisfies Record<string, { status: number; message: string; headers?: Record<string, string> }>;

export type ErrorCode = keyof typeof errors;

type GatewayErrors = Partial<Record<ErrorCode, readonly string[]>>;

/**
 * The errors that API Gateway itself sends to a request for an operation, with their types of gateway response. No
 * function uses this, so no bundle has it.
 */
export const gatewayErrors = {
  // The authorizer denies an invalid key; the function refuses a key without the scope.
  unauthorized: ["UNAUTHORIZED", "EXPIRED_TOKEN", "INVALID_API_KEY", "ACCESS_DENIED"],
  // Every rule of AWS WAF is about the rate of requests.
  too_many_requests: ["WAF_FILTERED", "THROTTLED", "QUOTA_EXCEEDED"],
  internal_error: ["API_CONFIGURATION_ERROR", "DEFAULT_5XX"],
  // API Gateway reports an authorizer that throws or times out as a configuration error. Both mean that it could not read
  // its table or could not start, which is temporary. INTEGRATION_FAILURE: docs/decisions/rest-api.md.
  unavailable: ["AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "INTEGRATION_FAILURE"],
  timeout: ["INTEGRATION_TIMEOUT"],
} as const satisfies GatewayErrors;

/** The other types of gateway response. No operation uses IAM, so INVALID_SIGNATURE also means that there is no such path. */
export const otherGatewayErrors = {
  not_found: ["MISSING_AUTHENTICATION_TOKEN", "INVALID_SIGNATURE", "RESOURCE_NOT_FOUND"],
  invalid_request: ["BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS", "DEFAULT_4XX"],
  payload_too_large: ["REQUEST_TOO_LARGE"],
  unsupported_media_type: ["UNSUPPORTED_MEDIA_TYPE"],
} as const satisfies GatewayErrors;

/** The body of every error response. Source: contract 7.1. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  status: number;
}

/**
 * An error that a client sees.
 *
 * @param code decides the HTTP status
 * @param options.message public text that replaces the code's own; it names fields, never their values
 * @param options.cause the internal reason, for the log only
 */
export class ApiError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, options: { message?: string; cause?: unknown } = {}) {
    super(options.message ?? errors[code].message, { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
  }
}

/** Returns the Error body of a code. @param message public text that replaces the code's own */
export function errorBody(code: ErrorCode, message: string = errors[code].message): ErrorBody {
  return { code, message, status: errors[code].status };
}

/**
 * Returns the headers that an error adds to its response: `Retry-After` in seconds (RFC 9110, 10.2.3) where waiting
 * helps, `WWW-Authenticate` (RFC 6750, 3) for a 401.
 */
export function errorHeaders(code: ErrorCode): Record<string, string> {
  const error = errors[code];
  return "headers" in error ? error.headers : {};
}
