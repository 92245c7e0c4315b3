import { crc32 } from "node:zlib";

const ID_BYTES = 8;

/**
 * Writes a position in the list as the opaque `cursor` of a page link.
 *
 * @param id the last animal of the page, an int64
 * @returns 16 characters of URL-safe text (RFC 4648, 5): the id and a checksum, so that a mangled cursor
 *   is refused and does not lead somewhere else
 */
export function encodeCursor(id: bigint): string {
  const bytes = Buffer.alloc(ID_BYTES + 4);
  bytes.writeBigInt64BE(id);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, ID_BYTES)), ID_BYTES);
  return bytes.toString("base64url");
}

/**
 * Reads a `cursor` that a client sent back.
 *
 * @param cursor what the client sent
 * @returns the id to go on after, or undefined when this is no cursor that encodeCursor writes
 */
export function decodeCursor(cursor: string): bigint | undefined {
  if (!/^[\w-]{16}$/.test(cursor)) return undefined;
  const id = Buffer.from(cursor, "base64url").readBigInt64BE();
  return encodeCursor(id) === cursor ? id : undefined;
}
