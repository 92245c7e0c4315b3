import type { IncomingMessage } from "node:http";

/** Ends a request with a gateway response. Its message is the type, such as UNAUTHORIZED. */
export class GatewayError extends Error {}

/** The limit for a request's body, in bytes: Lambda's for an event. API Gateway's own is 10 MB. */
export const EVENT_LIMIT = 6 * 1024 * 1024;

/**
 * Reads a request's body.
 *
 * @throws GatewayError when the client disconnected before, or as soon as the body is over the limit. The rest of it can
 *   still be read
 */
export async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > EVENT_LIMIT) break;
      chunks.push(chunk);
    }
  } catch {
    throw new GatewayError("DEFAULT_4XX");
  }
  // In AWS, no gateway response changes this 413 (docs/aws-assumptions.md).
  if (size > EVENT_LIMIT) throw new GatewayError("REQUEST_TOO_LARGE");
  return Buffer.concat(chunks);
}

/** A request whose headers have arrived, with its target split. */
export type LocalRequest = ReturnType<typeof readTarget>;

/**
 * Splits a request's target. Slashes between the stage and the path count as one.
 *
 * @throws GatewayError when the request has an invalid Host or is outside the stage
 */
export function readTarget(message: IncomingMessage, apiStageName: string) {
  // The functions build links from Host, which a request has exactly once (RFC 9112, 3.2).
  if (!/^[\w.:[\]-]+$/.test((message.headersDistinct.host ?? []).join()))
    throw new GatewayError("DEFAULT_4XX");

  const target = (message.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").replace(/#.*$/, "");
  const [address = "", ...search] = target.split("?");
  const prefix = `/${apiStageName}`;
  if (address !== prefix && !address.startsWith(`${prefix}/`))
    throw new GatewayError("MISSING_AUTHENTICATION_TOKEN");
  return {
    message,
    method: message.method ?? "",
    /** below the stage, percent-encoded as sent */
    path: address.slice(prefix.length).replace(/^\/+/, "/"),
    query: new URLSearchParams(search.join("?")),
  };
}
