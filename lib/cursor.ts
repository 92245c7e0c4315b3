import { createHash } from "node:crypto";
import { fromText, must } from "./validation.ts";

const ORDER_BYTES = 14;
const CHECKSUM_BYTES = 4;

// SHA-256 and not CRC-32: loading node:zlib would add 2 ms to a cold start, and node:crypto is loaded anyway.
const checksum = (bytes: Buffer) => createHash("sha256").update(bytes).digest().subarray(0, CHECKSUM_BYTES);

/**
 * Writes a position in the list as the opaque `cursor` of a page link (contract 3.5).
 *
 * @param order the place of the last pet on the page (creation.ts), from 0 to 2^112 - 1
 * @returns 24 characters of URL-safe text (RFC 4648, 5): the place and a checksum, so that a changed cursor is refused
 * @throws RangeError for another place
 */
export function encodeCursor(order: bigint): string {
  if (order !== BigInt.asUintN(8 * ORDER_BYTES, order))
    throw new RangeError("The place does not fit in a cursor.");
  const bytes = Buffer.from(order.toString(16).padStart(2 * ORDER_BYTES, "0"), "hex");
  return Buffer.concat([bytes, checksum(bytes)]).toString("base64url");
}

/** Returns the place after which a page starts, or undefined for text that encodeCursor never returns. */
export function decodeCursor(cursor: string): bigint | undefined {
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.length !== ORDER_BYTES + CHECKSUM_BYTES) return undefined;
  const order = BigInt(`0x${bytes.toString("hex", 0, ORDER_BYTES)}`);
  return encodeCursor(order) === cursor ? order : undefined;
}

/** A position in the list. */
export const Cursor = fromText(
  decodeCursor,
  encodeCursor,
  must("be a cursor taken from a Link header of this API"),
  {
    type: "string",
    maxLength: ((ORDER_BYTES + CHECKSUM_BYTES) * 4) / 3, // base64 of whole groups of 3 bytes
    description:
      "Start of the page. Opaque; take it from the `Link` header of the previous page. Do not store it: it can skip new items",
    examples: ["AAA6AP2Q1HrYnizRs1oiycEP"],
  },
);
