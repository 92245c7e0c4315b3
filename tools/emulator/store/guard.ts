import { hash } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

/** The body of DynamoDB's response to an unknown access key ID. */
const FORBIDDEN = JSON.stringify({
  __type: "com.amazon.coral.service#UnrecognizedClientException",
  message: "The security token included in the request is invalid.",
});

/**
 * Protects dynalite 4.0.0, which serves any web page and any signature, and throws when a request is incomplete. It gets
 * only complete requests that name the access key ID, which no web page knows.
 *
 * @param listener of dynalite's server
 * @param accessKeyId a secret of this store
 * @returns a listener that responds to other requests with 403
 */
export function guarded(listener: RequestListener, accessKeyId: string): RequestListener {
  const expected = hash("sha256", accessKeyId);
  return async (message, response) => {
    const { method, url, headers } = message;
    const [, sent = ""] = /\bCredential=([^/,\s]*)\//.exec(headers.authorization ?? "") ?? [];
    if (hash("sha256", sent) !== expected) {
      response.writeHead(403, { "Content-Type": "application/x-amz-json-1.0", Connection: "close" });
      response.end(FORBIDDEN);
      return;
    }
    const body = await buffer(message).catch(() => undefined); // the client closed the connection
    if (body)
      listener(Object.assign(Readable.from([body]), { method, url, headers }) as IncomingMessage, response);
  };
}
