import type { ServerResponse } from "node:http";
import type { GatewayResponseType, HttpResponse } from "../template/rest-api.ts";

/** Ends a request with a gateway response. */
export class GatewayError extends Error {
  declare readonly message: GatewayResponseType;

  constructor(type: GatewayResponseType) {
    super(type);
  }
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
