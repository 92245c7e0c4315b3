import type { BufferedRequest } from "./request.ts";
import { Refusal } from "./responses.ts";

/** A request whose headers have arrived, with its target split. */
export interface LocalRequest {
  message: BufferedRequest;
  method: string;
  /** below the stage, percent-encoded as sent */
  path: string;
  query: URLSearchParams;
}

/**
 * Splits a request's target. Slashes between the stage and the path count as one.
 *
 * @throws Refusal when the request has an invalid Host or is outside the stage
 */
export function readTarget(message: BufferedRequest, apiStageName: string): LocalRequest {
  // The functions build links from Host, which a request has exactly once (RFC 9112, 3.2).
  if (!/^[\w.:[\]-]+$/.test((message.headersDistinct.host ?? []).join())) throw new Refusal("DEFAULT_4XX");

  const target = (message.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").replace(/#.*$/, "");
  const [address = "", ...search] = target.split("?");
  const prefix = `/${apiStageName}`;
  if (address !== prefix && !address.startsWith(`${prefix}/`))
    throw new Refusal("MISSING_AUTHENTICATION_TOKEN");
  return {
    message,
    method: message.method ?? "",
    path: address.slice(prefix.length).replace(/^\/+/, "/"),
    query: new URLSearchParams(search.join("?")),
  };
}
