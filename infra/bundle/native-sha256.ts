import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";

/**
 * Stands in for `@smithy/core/checksum` in the bundles, with which the SDK signs requests: SHA-256 by Node alone,
 * without the SDK's own for systems that have no node:crypto.
 */
export class Sha256 {
  readonly #hash: Hash | Hmac;

  /** @param secret makes it an HMAC (RFC 2104) */
  constructor(secret?: string | Uint8Array) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret);
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }
}
