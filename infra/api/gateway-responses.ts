import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { type ErrorCode, errorBody, errorHeaders, errors } from "../../lib/errors.ts";
import { gatewayErrors, otherGatewayErrors } from "../../lib/gateway-errors.ts";

const types = Object.entries({ ...gatewayErrors, ...otherGatewayErrors }).flatMap(([code, names]) =>
  names.map((type) => ({ type, code: code as ErrorCode })),
);

/** In seconds. AWS WAF blocks until its estimate of the rate has fallen, tens of seconds to minutes later. */
const WAF_RETRY_AFTER = "30";

/**
 * Sets the Error (contract 7.1) of every type of gateway response: a type that is not set has the status, headers and body of
 * its DEFAULT type. The bodies are static: API Gateway's own messages can repeat what the client sent.
 */
export function addGatewayResponses(api: RestApi): void {
  for (const { type, code } of types) {
    const headers = type === "WAF_FILTERED" ? { "Retry-After": WAF_RETRY_AFTER } : errorHeaders(code);
    // API Gateway expects a static header value in single quotes.
    const quoted = Object.entries(headers).map(([name, value]) => [name, `'${value}'`]);
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(errors[code].status),
      responseHeaders: Object.fromEntries(quoted),
      templates: { "application/json": JSON.stringify(errorBody(code)) },
    });
  }
}
