import type { ServerResponse } from "node:http";
import type { HttpResponse } from "../template/rest-api.ts";

/** The gateway responses that this gateway sends, and their statuses where the template sets none. */
const statuses = {
  ACCESS_DENIED: 403,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  BAD_REQUEST_BODY: 400,
  DEFAULT_4XX: 400,
  DEFAULT_5XX: 500,
  INTEGRATION_FAILURE: 504,
  INTEGRATION_TIMEOUT: 504,
  MISSING_AUTHENTICATION_TOKEN: 403,
  REQUEST_TOO_LARGE: 413,
  THROTTLED: 429,
  UNAUTHORIZED: 401,
  UNSUPPORTED_MEDIA_TYPE: 415,
};
type GatewayResponseType = keyof typeof statuses;

/** Ends a request with a gateway response. */
export class Refusal extends Error {
  readonly type: GatewayResponseType;

  constructor(type: GatewayResponseType) {
    super(type);
    this.type = type;
  }
}

/**
 * Returns how to find a gateway response. A type that the template does not set has the body of DEFAULT_4XX or
 * DEFAULT_5XX, and its status if it is set.
 *
 * @param set the template's gateway responses, by type
 * @throws Error in one line when a type has no response
 */
export function gatewayResponses(
  set: Map<string, HttpResponse>,
): (type: GatewayResponseType) => HttpResponse {
  const responses = Object.entries(statuses).map(([type, status]): [string, HttpResponse] => {
    const fallback = status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX";
    const response = set.get(type) ?? set.get(fallback);
    if (!response?.body)
      throw new Error(`The template has no gateway response ${type} or ${fallback} with a body.`);
    return [type, { ...response, status: response.status || status }];
  });
  const all = Object.fromEntries(responses) as Record<GatewayResponseType, HttpResponse>;
  return (type) => all[type];
}

/**
 * The response to a body over 10 MB. It has no x-amzn-RequestId, and the gateway response REQUEST_TOO_LARGE does not
 * change it (koki-develop/lgtm-generator#10, reapit/foundations#4338).
 */
export const TOO_LARGE: HttpResponse = {
  status: 413,
  headers: { "Content-Type": "text; charset=utf-8" },
  body: "HTTP content length exceeded 10485760 bytes.",
};

/**
 * API Gateway's own response to an undefined route with an Authorization header: it reads the header as an AWS signature
 * and repeats it (HumanCellAtlas/data-store#328).
 */
export function incompleteSignature(authorization: string): HttpResponse {
  const part = authorization.slice(authorization.indexOf(" ") + 1);
  const message = `'${part}' not a valid key=value pair (missing equal-sign) in Authorization header: '${authorization}'.`;
  return {
    status: 403,
    headers: { "x-amzn-ErrorType": "IncompleteSignatureException" },
    body: JSON.stringify({ message }),
  };
}

/** Sends a response. */
export function send(
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  requestId: string | undefined,
): void {
  response.writeHead(status, {
    // A 204 must not have a Content-Length (RFC 9110, 8.6).
    ...(status !== 204 && {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    }),
    ...(requestId && { "x-amzn-RequestId": requestId }),
    ...headers,
  });
  if (response.req.complete) return void response.end(body);
  // The client still sends. If the connection closed now, the client would lose the response.
  response.write(body);
  response.req.on("close", () => response.end());
}
