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
  declare readonly message: GatewayResponseType;

  constructor(type: GatewayResponseType) {
    super(type);
  }
}

/**
 * Returns the gateway responses by type. One that the template does not set has the headers and the body of DEFAULT_4XX or
 * DEFAULT_5XX, and its status if that is set.
 *
 * @throws Error in one line when there is neither
 */
export function gatewayResponses(set: Map<string, HttpResponse>) {
  const all = Object.entries(statuses).map(([type, status]) => {
    const fallback = status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX";
    const response = set.get(type) ?? set.get(fallback);
    if (!response?.body) throw new Error(`The template sets no body for ${type} or ${fallback}.`);
    return [type, { ...response, status: response.status || status }];
  });
  return Object.fromEntries(all) as Record<GatewayResponseType, HttpResponse>;
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
 * The response to an undefined route with an Authorization header, which API Gateway reads as an AWS signature and repeats
 * (HumanCellAtlas/data-store#328).
 */
export function incompleteSignature(header: string): HttpResponse {
  const part = header.slice(header.indexOf(" ") + 1);
  const message = `'${part}' not a valid key=value pair (missing equal-sign) in Authorization header: '${header}'.`;
  const headers = { "x-amzn-ErrorType": "IncompleteSignatureException" };
  return { status: 403, headers, body: JSON.stringify({ message }) };
}

/** Sends a response. */
export function send(response: ServerResponse, result: HttpResponse, requestId: string): void {
  const { status, headers, body } = result;
  response.writeHead(status, {
    // A 204 must not have a Content-Length (RFC 9110, 8.6).
    ...(status !== 204 && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
    ...(result !== TOO_LARGE && { "x-amzn-RequestId": requestId }),
    ...headers,
  });
  if (response.req.complete) return void response.end(body);
  // The client still sends. If the connection closed now, the client would lose the response.
  response.write(body);
  response.req.on("close", () => response.end()).resume();
}
