import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { type ErrorCode, errorBody, errorHeaders, errors } from "../lib/errors.ts";

/**
 * The error of every gateway response. Every type is set, because a type that is not set takes its status from a
 * DEFAULT type and its body from API Gateway. The bodies are static: API Gateway's own messages can repeat what the
 * client sent.
 */
const codes: [ResponseType, ErrorCode][] = [
  [ResponseType.UNAUTHORIZED, "unauthorized"],
  [ResponseType.EXPIRED_TOKEN, "unauthorized"],
  [ResponseType.INVALID_API_KEY, "unauthorized"],
  // The authorizer denies an invalid key; the function refuses a key without the scope.
  [ResponseType.ACCESS_DENIED, "unauthorized"],
  // Every rule of the web ACL is about the rate of requests.
  [ResponseType.WAF_FILTERED, "too_many_requests"],
  // No operation uses IAM, so both only mean that there is no such path or method.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, "not_found"],
  [ResponseType.INVALID_SIGNATURE, "not_found"],
  [ResponseType.RESOURCE_NOT_FOUND, "not_found"],
  [ResponseType.BAD_REQUEST_BODY, "invalid_request"],
  [ResponseType.BAD_REQUEST_PARAMETERS, "invalid_request"],
  [ResponseType.REQUEST_TOO_LARGE, "payload_too_large"],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"],
  [ResponseType.THROTTLED, "too_many_requests"],
  [ResponseType.QUOTA_EXCEEDED, "too_many_requests"],
  [ResponseType.API_CONFIGURATION_ERROR, "internal_error"],
  // API Gateway reports an authorizer that throws or times out as a configuration error. Both mean that it could not
  // read its table or could not start, which is temporary.
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, "unavailable"],
  [ResponseType.AUTHORIZER_FAILURE, "unavailable"],
  // A function threw, crashed, exceeded its timeout or was throttled: docs/decisions/function-failures.md.
  [ResponseType.INTEGRATION_FAILURE, "unavailable"],
  [ResponseType.INTEGRATION_TIMEOUT, "timeout"],
  [ResponseType.DEFAULT_4XX, "invalid_request"],
  [ResponseType.DEFAULT_5XX, "internal_error"],
];

/** In seconds. AWS WAF blocks until its estimate of the rate has fallen, tens of seconds to minutes later. */
const WAF_RETRY_AFTER = "30";

/** Sets the Error body (contract 7.1) of every response that API Gateway itself creates. */
export function addGatewayResponses(api: RestApi): void {
  for (const [type, code] of codes) {
    const blocked = type === ResponseType.WAF_FILTERED;
    const headers = blocked ? { "Retry-After": WAF_RETRY_AFTER } : errorHeaders(code);
    api.addGatewayResponse(type.responseType, {
      type,
      statusCode: String(errors[code].status),
      // API Gateway expects a static header value in single quotes.
      responseHeaders: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, `'${value}'`]),
      ),
      templates: { "application/json": JSON.stringify(errorBody(code)) },
    });
  }
}
