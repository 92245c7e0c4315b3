/** Returns a key whose checksum is wrong in its last character. */
export const withWrongChecksum = (key: string) => key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
