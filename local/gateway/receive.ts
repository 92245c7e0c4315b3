import type { IncomingMessage } from "node:http";
import { refuse, type Step } from "./context.ts";

/** API Gateway's limit for a request's body, in bytes. */
const PAYLOAD_LIMIT = 10 * 1024 * 1024;
/** The limit for the bodies that the service holds at one time, in bytes. API Gateway has none. */
const BODIES_LIMIT = 32 * 1024 * 1024;

/** A request whose headers have arrived, with its target split. */
export interface LocalRequest {
  message: IncomingMessage;
  method: string;
  /** below the stage, percent-encoded as sent */
  path: string;
  query: URLSearchParams;
}

/**
 * Splits a request's target. Slashes between the stage and the path count as one.
 *
 * @returns the request; or a refusal when it has an invalid Host or is outside the stage
 */
export function readTarget(message: IncomingMessage, stageName: string): Step<LocalRequest> {
  // The functions build links from Host, which a request has exactly once (RFC 9112, 3.2).
  if (!/^[\w.:[\]-]+$/.test((message.headersDistinct.host ?? []).join())) return refuse("DEFAULT_4XX");

  const target = (message.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").replace(/#.*$/, "");
  const [address = "", ...search] = target.split("?");
  const prefix = `/${stageName}`;
  if (address !== prefix && !address.startsWith(`${prefix}/`)) {
    return refuse("MISSING_AUTHENTICATION_TOKEN");
  }
  const request = {
    message,
    method: message.method ?? "",
    path: address.slice(prefix.length).replace(/^\/+/, "/"),
    query: new URLSearchParams(search.join("?")),
  };
  return { value: request, variables: {} };
}

/** The bodies that are held, in bytes. */
let held = 0;

/**
 * Receives a request's body, and holds it until it was used.
 *
 * @returns the result of `use`; or a refusal when the body is too large or incomplete, or when all bodies together are
 *   too large
 */
export async function withBody<T>(
  message: IncomingMessage,
  use: (body: Buffer) => Promise<Step<T>>,
): Promise<Step<T>> {
  const chunks: Buffer[] = [];
  let size = 0;
  const receive = async () => {
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      held += chunk.length;
      if (size > PAYLOAD_LIMIT) return "REQUEST_TOO_LARGE";
      if (held > BODIES_LIMIT) return "THROTTLED";
      chunks.push(chunk);
    }
    return undefined;
  };
  try {
    // The client disconnected before its body was complete.
    const refusal = await receive().catch(() => "BAD_REQUEST_BODY");
    return refusal ? refuse(refusal) : await use(Buffer.concat(chunks.splice(0)));
  } finally {
    held -= size;
    message.resume(); // discards the rest, so that the client receives the response
  }
}
