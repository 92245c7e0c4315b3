import { crc32 } from "node:zlib";

/** The symbols of a key, in the order of their values. */
export const SYMBOLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns a text with the checksum of a key, which this computes by itself: its CRC-32 in base 62. */
export function withChecksum(text: string): string {
  const digits = [5, 4, 3, 2, 1, 0].map((place) => Math.floor(crc32(text) / 62 ** place) % 62);
  return text + digits.map((digit) => SYMBOLS.charAt(digit)).join("");
}

/** Returns a key whose checksum is wrong in its last character. */
export const withWrongChecksum = (key: string) => key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
