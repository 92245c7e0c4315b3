import type { ErrorCode } from "./errors.ts";

type GatewayErrors = Partial<Record<ErrorCode, readonly string[]>>;

/** The errors that API Gateway itself sends to a valid request for an operation, with their types of gateway response. */
export const gatewayErrors = {
  // The authorizer denies an invalid key; the function refuses a key without the scope.
  unauthorized: ["UNAUTHORIZED", "EXPIRED_TOKEN", "INVALID_API_KEY", "ACCESS_DENIED"],
  // Every rule of AWS WAF is about the rate of requests.
  too_many_requests: ["WAF_FILTERED", "THROTTLED", "QUOTA_EXCEEDED"],
  internal_error: ["API_CONFIGURATION_ERROR", "DEFAULT_5XX"],
  // API Gateway reports an authorizer that throws or times out as a configuration error. It could not read its table, or
  // could not start, which is temporary. INTEGRATION_FAILURE: docs/decisions/rest-api.md.
  unavailable: ["AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "INTEGRATION_FAILURE"],
  timeout: ["INTEGRATION_TIMEOUT"],
} as const satisfies GatewayErrors;

/** The other types of gateway response. No operation uses IAM, so INVALID_SIGNATURE also means an unknown path. */
export const otherGatewayErrors = {
  not_found: ["MISSING_AUTHENTICATION_TOKEN", "INVALID_SIGNATURE", "RESOURCE_NOT_FOUND"],
  invalid_request: ["BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS", "DEFAULT_4XX"],
  payload_too_large: ["REQUEST_TOO_LARGE"], // API Gateway does not use what is set for it
  unsupported_media_type: ["UNSUPPORTED_MEDIA_TYPE"],
} as const satisfies GatewayErrors;
