import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { refuse, type Step } from "./context.ts";

/** API Gateway's limit for a request's body, in bytes. */
const PAYLOAD_LIMIT = 10 * 1024 * 1024;
/** The limit for the bodies that the service holds at one time, in bytes. API Gateway has none. */
const BODIES_LIMIT = 32 * 1024 * 1024;

/** The requests that hold a part of their body, oldest first. */
const unfinished = new Set<BufferedRequest>();
/** What all bodies take, in bytes. */
let held = 0;

/**
 * A request whose body is received from the start and into one buffer. A list of chunks would take hundreds of bytes for
 * each, and a chunk can have one byte.
 */
export class BufferedRequest extends IncomingMessage {
  /** The body; or a refusal when it is too large or incomplete, or the oldest of too many incomplete ones. */
  readonly body: Promise<Step<Buffer>>;
  #settle: (step: Step<Buffer>) => void;
  #bytes = Buffer.alloc(0);
  #size = 0;
  #discarded = false;

  constructor(socket: Socket) {
    super(socket);
    const { promise, resolve } = Promise.withResolvers<Step<Buffer>>();
    this.body = promise;
    this.#settle = resolve;
    this.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.on("end", () => {
      unfinished.delete(this);
      resolve({ value: this.#bytes.subarray(0, this.#size), variables: {} });
    });
    this.on("error", () => this.#refuse("BAD_REQUEST_BODY")); // the client disconnected before the end
  }

  /** Frees the body, and drops the rest of it. */
  discard(): void {
    held -= this.#bytes.length;
    this.#bytes = Buffer.alloc(0);
    this.#discarded = true;
    unfinished.delete(this);
  }

  #receive(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > PAYLOAD_LIMIT) this.#refuse("REQUEST_TOO_LARGE");
    if (!this.#discarded && this.#size > this.#bytes.length) this.#grow();
    if (!this.#discarded) this.#bytes.set(chunk, this.#size - chunk.length);
  }

  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(
      Math.min(Math.max(this.#size, 2 * this.#bytes.length), PAYLOAD_LIMIT),
    );
    held += larger.length - this.#bytes.length;
    this.#bytes.copy(larger);
    this.#bytes = larger;
    unfinished.add(this);
    for (const oldest of unfinished) if (held > BODIES_LIMIT) oldest.#refuse("THROTTLED");
  }

  #refuse(type: string): void {
    this.#settle(refuse(type));
    this.discard();
  }
}
