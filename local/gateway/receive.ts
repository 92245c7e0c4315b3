import type { IncomingMessage } from "node:http";
import { refuse, type Step } from "./context.ts";

/** API Gateway's limit for a request's body, in bytes. */
const PAYLOAD_LIMIT = 10 * 1024 * 1024;

/** A complete request, with its target split. */
export interface LocalRequest {
  message: IncomingMessage;
  method: string;
  /** below the stage, without a trailing slash, percent-encoded as sent */
  path: string;
  query: URLSearchParams;
  body: Buffer;
}

/**
 * Receives a request's body and splits its target.
 *
 * @returns the request; or a refusal when it is too large, incomplete, has an invalid Host, or is outside the stage
 */
export async function receiveRequest(
  message: IncomingMessage,
  stageName: string,
): Promise<Step<LocalRequest>> {
  const body = await receiveBody(message);
  if ("refusal" in body) return body;
  // The functions build links from it.
  if (!/^[\w.:[\]-]+$/.test(message.headers.host ?? "")) return refuse("DEFAULT_4XX");

  const target = (message.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").replace(/#.*$/, "");
  const [address = "", ...search] = target.split("?");
  const prefix = `/${stageName}`;
  if (address !== prefix && !address.startsWith(`${prefix}/`)) {
    return refuse("MISSING_AUTHENTICATION_TOKEN");
  }
  const request = {
    message,
    method: message.method ?? "",
    path: address.slice(prefix.length).replace(/\/$/, ""),
    query: new URLSearchParams(search.join("?")),
    body: body.value,
  };
  return { value: request, variables: {} };
}

async function receiveBody(message: IncomingMessage): Promise<Step<Buffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      // The rest is read and discarded, so that the client receives the response.
      if (size <= PAYLOAD_LIMIT) chunks.push(chunk);
    }
  } catch {
    // The client disconnected before its body was complete.
    return refuse("BAD_REQUEST_BODY");
  }
  if (size > PAYLOAD_LIMIT) return refuse("REQUEST_TOO_LARGE");
  return { value: Buffer.concat(chunks), variables: {} };
}
