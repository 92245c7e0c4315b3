import type { APIGatewayProxyEvent } from "aws-lambda";
import { API_VERSION } from "../operation.ts";
import { header } from "./headers.ts";

/**
 * Writes a Link header (RFC 8288) to a path relative to the base URL by which the client reached the API (contract 1.1). A
 * parameter that is undefined is left out.
 */
export function linkHeader(
  event: APIGatewayProxyEvent,
  rel: string,
  path: string,
  query: Record<string, string | undefined> = {},
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, value);
  const scheme = header(event, "x-forwarded-proto") === "http" ? "http" : "https";
  const baseUrl = `${scheme}://${header(event, "host")}/${API_VERSION}`;
  return `<${baseUrl}${path}${search.size > 0 ? `?${search}` : ""}>; rel="${rel}"`;
}
