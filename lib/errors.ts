/**
 * Every error that a client can meet: its code, HTTP status and public message.
 * The set of codes is closed; README.md lists it for clients.
 * Source: SPEC 2 (Error), SPEC 7. `retryAfter` is in seconds (RFC 9110, 10.2.3).
 */
export const errors = {
  invalid_request: { status: 400, message: "The request is not valid." },
  unauthorized: {
    status: 401,
    message: "The API key is missing or invalid. Send it as 'Authorization: Bearer <API_KEY>'.",
  },
  forbidden: { status: 403, message: "The API key does not have the scope that this operation needs." },
  not_found: { status: 404, message: "The requested resource could not be found." },
  method_not_allowed: {
    status: 405,
    message: "The resource does not support this method. The Allow header lists those it does.",
  },
  gone: { status: 410, message: "This operation has been removed. The Link header names its successor." },
  payload_too_large: { status: 413, message: "The request body is too large. It may have at most 16 KiB." },
  unsupported_media_type: {
    status: 415,
    message: "The request body must be sent as 'Content-Type: application/json', without a Content-Encoding.",
  },
  idempotency_mismatch: {
    status: 422,
    message: "This Idempotency-Key was used for a request with another body.",
  },
  too_many_requests: {
    status: 429,
    message: "Too many requests. Try again after the time given in Retry-After.",
    retryAfter: 1,
  },
  internal_error: { status: 500, message: "Something went wrong on our side." },
  unavailable: {
    status: 503,
    message: "The service is unavailable for the moment. Try again after the time given in Retry-After.",
    retryAfter: 1,
  },
  timeout: { status: 504, message: "The service did not answer in time. Try again." },
} as const satisfies Record<string, { status: number; message: string; retryAfter?: number }>;

export type ErrorCode = keyof typeof errors;

/** The body of every error response. Source: SPEC 2 (Error). */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  status: number;
}

/**
 * An error that a client may see.
 *
 * @param code which error it is; it decides the HTTP status
 * @param options.message public text in place of the code's own; it names fields, never their values
 * @param options.cause what went wrong inside, for the log only
 */
export class ApiError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, options: { message?: string; cause?: unknown } = {}) {
    super(options.message ?? errors[code].message, { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
  }
}

/**
 * The Error body of a code.
 *
 * @param code which error it is
 * @param message public text in place of the code's own
 * @returns the body, its `status` repeating the HTTP status (SPEC 7)
 */
export function errorBody(code: ErrorCode, message: string = errors[code].message): ErrorBody {
  return { code, message, status: errors[code].status };
}

/**
 * The headers that go with an error besides its body.
 *
 * @param code which error it is
 * @returns `Retry-After` in seconds (RFC 9110, 10.2.3) where waiting helps, else nothing
 */
export function errorHeaders(code: ErrorCode): Record<string, string> {
  const error = errors[code];
  return "retryAfter" in error ? { "Retry-After": String(error.retryAfter) } : {};
}
