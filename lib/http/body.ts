import type { APIGatewayProxyEvent } from "aws-lambda";
import { ApiError } from "../errors.ts";
import { BODY_LIMIT, DEPTH_LIMIT } from "../limits.ts";
import { header } from "./headers.ts";
import { parseJson } from "./json.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** JSON is UTF-8 (RFC 8259, 8.1). Source: contract 4.5. */
function isPlainJson(event: APIGatewayProxyEvent): boolean {
  const [type, ...parameters] = (header(event, "content-type") ?? "").split(";").map((part) => part.trim());
  const charsets = parameters.filter((parameter) => /^charset=/i.test(parameter));
  const coding = header(event, "content-encoding") ?? "identity";
  return (
    /^application\/json$/i.test(type ?? "") &&
    charsets.every((charset) => /^charset="?utf-8"?$/i.test(charset)) &&
    /^identity$/i.test(coding)
  );
}

/**
 * Reads the JSON body of a request, integers as bigint.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large` or `invalid_request`
 */
export function readBody(event: APIGatewayProxyEvent): unknown {
  if (!isPlainJson(event)) throw new ApiError("unsupported_media_type");
  const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > BODY_LIMIT) throw new ApiError("payload_too_large");
  try {
    return parseJson(utf8.decode(bytes));
  } catch (cause) {
    const message = `The body must be well-formed JSON with at most ${DEPTH_LIMIT} levels.`;
    throw new ApiError("invalid_request", { message, cause });
  }
}
