import { refuse, type Step } from "./context.ts";
import type { BufferedRequest } from "./request.ts";

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
 * @returns the request; or a refusal when it has an invalid Host or is outside the stage
 */
export function readTarget(message: BufferedRequest, apiStageName: string): Step<LocalRequest> {
  // The functions build links from Host, which a request has exactly once (RFC 9112, 3.2).
  if (!/^[\w.:[\]-]+$/.test((message.headersDistinct.host ?? []).join())) return refuse("DEFAULT_4XX");

  const target = (message.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").replace(/#.*$/, "");
  const [address = "", ...search] = target.split("?");
  const prefix = `/${apiStageName}`;
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
