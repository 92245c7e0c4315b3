import { BODY_LIMIT } from "./limits.ts";

/** After a 500, 503 or 504, the service can have added the pet. */
const SAFE_RETRY = "Retry a POST only with an Idempotency-Key.";

/**
 * The errors that the API defines: code, HTTP status, public message and headers. Source: contract 7.1, 7.2 and 7.4. The
 * set of codes is closed; README.md lists it for clients.
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
      "Send the body as JSON in UTF-8, with one 'Content-Type: application/json' and no Content-Encoding other than identity.",
  },
  idempotency_mismatch: {
    status: 422,
    message: "This Idempotency-Key was used with another animal.",
  },
  too_many_requests: {
    status: 429,
    message: "Too many requests. Wait the number of seconds in the Retry-After header, and retry.",
    headers: { "Retry-After": "1" },
  },
  internal_error: { status: 500, message: `An error occurred in the service. ${SAFE_RETRY}` },
  unavailable: {
    status: 503,
    message: `The service is temporarily unavailable. Wait the number of seconds in the Retry-After header. ${SAFE_RETRY}`,
    headers: { "Retry-After": "1" },
  },
  timeout: { status: 504, message: `The service did not respond in time. ${SAFE_RETRY}` },
} as const satisfies Record<string, { status: number; message: string; headers?: Record<string, string> }>;

export type ErrorCode = keyof typeof errors;

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
 * @param options.message public text that replaces that of the code; it names fields, never their values
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

/** Returns the Error body of a code. @param message public text that replaces that of the code */
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
