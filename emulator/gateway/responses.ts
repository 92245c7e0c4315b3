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
