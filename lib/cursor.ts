import { createHash } from "node:crypto";
import { fromText, must } from "./validation.ts";

const ID_BYTES = 8;
const CHECKSUM_BYTES = 4;

// SHA-256 and not CRC-32: loading node:zlib adds 2 ms to every cold start, and node:crypto is loaded anyway.
const checksum = (bytes: Buffer) => createHash("sha256").update(bytes).digest().subarray(0, CHECKSUM_BYTES);

/**
 * Writes a position in the list as the opaque `cursor` of a page link (contract 3.5).
 *
 * @param id of the last pet on the page, an int64
 * @returns 16 characters of URL-safe text (RFC 4648, 5): the id and a checksum, so that a changed cursor is refused
 */
export function encodeCursor(id: bigint): string {
  const bytes = Buffer.alloc(ID_BYTES);
  bytes.writeBigInt64BE(id);
  return Buffer.concat([bytes, checksum(bytes)]).toString("base64url");
}

/** Returns the id after which a page starts, or undefined for text that encodeCursor never returns. */
export function decodeCursor(cursor: string): bigint | undefined {
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.length !== ID_BYTES + CHECKSUM_BYTES) return undefined;
  const id = bytes.readBigInt64BE();
  return encodeCursor(id) === cursor ? id : undefined;
}

/** A position in the list. */
export const Cursor = fromText(
  decodeCursor,
  encodeCursor,
  must("be a cursor taken from a Link header of this API"),
  {
    type: "string",
    description:
      "Start of the page. Opaque; take it from the `Link` header of the previous page. Do not store it: it can skip new animals",
    examples: ["AABoTHDRs1qKLYVF"],
  },
);
