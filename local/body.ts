import type { IncomingMessage } from "node:http";
import { refuse, type Step } from "./gateway/context.ts";

/** API Gateway's limit for a request's body, in bytes. */
const PAYLOAD_LIMIT = 10 * 1024 * 1024;
/** The limit for the bodies that the service holds at one time, in bytes. API Gateway has none. */
const BODIES_LIMIT = 32 * 1024 * 1024;
/** How much of a body is read until the client must have noticed that it was refused, in bytes. */
const DISCARD_LIMIT = 64 * 1024 * 1024;

/** The bodies that are held and not complete, oldest first. */
const unfinished = new Set<Body>();
/** What all bodies hold, in bytes. */
let held = 0;

/**
 * The body of a request. It is received from the start into one buffer, because each chunk that waits costs hundreds of
 * bytes, and a chunk can have one byte.
 */
export class Body {
  /**
   * The bytes; or a refusal when the body is too large or incomplete, or when all bodies are too large together and this
   * one is the oldest that is not complete.
   */
  readonly received: Promise<Step<Buffer>>;
  readonly #message: IncomingMessage;
  readonly #settle: (step: Step<Buffer>) => void;
  #bytes = Buffer.alloc(0);
  #size = 0;
  #discarded = false;

  constructor(message: IncomingMessage) {
    const { promise, resolve } = Promise.withResolvers<Step<Buffer>>();
    this.received = promise;
    this.#message = message;
    this.#settle = resolve;
    message.on("data", (chunk: Buffer) => this.#receive(chunk));
    message.on("end", () => {
      unfinished.delete(this);
      resolve({ value: this.#bytes.subarray(0, this.#size), variables: {} });
    });
    message.on("error", () => this.#refuse("BAD_REQUEST_BODY")); // the client disconnected before the end
  }

  /** Frees the bytes. What still arrives is read, so that the client receives its response, and dropped. */
  discard(): void {
    held -= this.#bytes.length;
    this.#bytes = Buffer.alloc(0);
    this.#discarded = true;
    unfinished.delete(this);
  }

  #receive(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > DISCARD_LIMIT) this.#message.destroy();
    if (this.#size > PAYLOAD_LIMIT) this.#refuse("REQUEST_TOO_LARGE");
    if (!this.#discarded && this.#size > this.#bytes.length) this.#grow();
    if (!this.#discarded) this.#bytes.set(chunk, this.#size - chunk.length);
  }

  #grow(): void {
    const length = Math.min(Math.max(this.#size, 2 * this.#bytes.length), PAYLOAD_LIMIT);
    unfinished.add(this);
    held += length - this.#bytes.length;
    const grown = Buffer.allocUnsafeSlow(length);
    this.#bytes.copy(grown);
    this.#bytes = grown;
    for (const oldest of unfinished) {
      if (held <= BODIES_LIMIT) return;
      oldest.#refuse("THROTTLED");
    }
  }

  #refuse(type: string): void {
    this.#settle(refuse(type));
    this.discard();
  }
}
