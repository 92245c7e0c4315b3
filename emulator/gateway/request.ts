import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Refusal } from "./responses.ts";

/** API Gateway's limit for a request's body, in bytes. */
export const PAYLOAD_LIMIT = 10 * 1024 * 1024;
/** Lambda's limit for an event, in bytes. A larger body is counted and not kept. */
export const EVENT_LIMIT = 6 * 1024 * 1024;
/** The limit for the bodies that the service holds at one time, in bytes. API Gateway has none. */
export const BODIES_LIMIT = 16 * 1024 * 1024;
/** By how many bytes a buffer grows: few, because most bodies are short, and more than one, as a chunk can have. */
const GROWTH = 4096;

/** What all bodies take, in bytes. */
let held = 0;

/**
 * A request whose body is received from the start and into one buffer. A list of chunks would take hundreds of bytes for
 * each.
 */
export class BufferedRequest extends IncomingMessage {
  /**
   * Settles when the body has arrived, or more than PAYLOAD_LIMIT of it. Rejects with a Refusal when the client
   * disconnected before, or when all bodies would take too much memory.
   */
  readonly received: Promise<void>;
  /** how many bytes of the body have arrived */
  size = 0;
  #bytes: ArrayBuffer | undefined;
  #discarded = false;
  readonly #settle: PromiseWithResolvers<void>;

  constructor(socket: Socket) {
    super(socket);
    this.#settle = Promise.withResolvers();
    this.received = this.#settle.promise;
    this.received.catch(() => undefined); // nobody waits for the body of a request that the authorizer refuses
    this.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.on("end", this.#settle.resolve);
    this.on("error", () => this.#refuse(new Refusal("BAD_REQUEST_BODY"))); // the client disconnected
  }

  /** The bytes that have arrived; none of a body over EVENT_LIMIT. */
  get body(): Buffer {
    return Buffer.from(this.#bytes ?? new ArrayBuffer()).subarray(0, this.size);
  }

  /** Frees the body, and drops the rest of it. */
  discard(): void {
    held -= this.#bytes?.byteLength ?? 0;
    this.#bytes?.resize(0);
    this.#discarded = true;
  }

  #receive(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > PAYLOAD_LIMIT) this.#settle.resolve();
    this.#bytes ??= new ArrayBuffer(0, { maxByteLength: EVENT_LIMIT });
    const length = Math.ceil(this.size / GROWTH) * GROWTH;
    const growth = length - this.#bytes.byteLength;
    if (this.size > EVENT_LIMIT) this.discard();
    else if (held + growth > BODIES_LIMIT) this.#refuse(new Refusal("THROTTLED"));
    if (this.#discarded) return;
    held += growth;
    if (growth > 0) this.#bytes.resize(length);
    new Uint8Array(this.#bytes).set(chunk, this.size - chunk.length);
  }

  #refuse(refusal: Refusal): void {
    this.#settle.reject(refusal);
    this.discard();
  }
}

/** A request whose headers have arrived, with its target split. */
export type LocalRequest = ReturnType<typeof readTarget>;

/**
 * Splits a request's target. Slashes between the stage and the path count as one.
 *
 * @throws Refusal when the request has an invalid Host or is outside the stage
 */
export function readTarget(message: BufferedRequest, apiStageName: string) {
  // The functions build links from Host, which a request has exactly once (RFC 9112, 3.2).
  if (!/^[\w.:[\]-]+$/.test((message.headersDistinct.host ?? []).join())) throw new Refusal("DEFAULT_4XX");

  const target = (message.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").replace(/#.*$/, "");
  const [address = "", ...search] = target.split("?");
  const prefix = `/${apiStageName}`;
  if (address !== prefix && !address.startsWith(`${prefix}/`))
    throw new Refusal("MISSING_AUTHENTICATION_TOKEN");
  return {
    message,
    method: message.method ?? "",
    /** below the stage, percent-encoded as sent */
    path: address.slice(prefix.length).replace(/^\/+/, "/"),
    query: new URLSearchParams(search.join("?")),
  };
}
