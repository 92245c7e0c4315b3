import type { ServerResponse } from "node:http";
import type { GatewayResponseType, HttpResponse } from "../template/rest-api.ts";
import type { RequestContext } from "./context.ts";

/** Ends a request with a gateway response. */
export class GatewayError extends Error {
  declare readonly message: GatewayResponseType;

  constructor(type: GatewayResponseType) {
    super(type);
  }
}

/** Sends a response. */
export function send(
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  { requestId, extendedRequestId }: RequestContext,
): void {
  response.writeHead(status, {
    // A 204 must not have a Content-Length (RFC 9110, 8.6).
    ...(status !== 204 && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
    "x-amzn-RequestId": requestId,
    "x-amz-apigw-id": extendedRequestId,
    ...headers,
  });
  if (response.req.complete) return void response.end(body);
  // The client still sends. If the connection closed now, the client would lose the response.
  response.write(body);
  response.req.on("close", () => response.end()).resume();
}
