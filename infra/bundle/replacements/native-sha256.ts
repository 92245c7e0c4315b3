import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";

/**
 * Replaces `@smithy/core/checksum`, with which the SDK signs requests, in the bundles. It uses SHA-256 of node:crypto and
 * leaves out the SDK's own implementation for other systems.
 */
export class Sha256 {
  readonly #hash: Hash | Hmac;

  /** @param secret makes the result an HMAC (RFC 2104) */
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
