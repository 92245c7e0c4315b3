// A client of the API in one file. Copy it. It needs no package. It runs on Deno, Bun, Node 22.18 or later, and, compiled,
// on Node 20. Never put an API key into a web page: keys belong on servers.

export type PetStatus = "available" | "pending" | "sold";

export interface Pet {
  id: bigint;
  name: string;
  categoryId: bigint;
  status: PetStatus;
}

/** The int64 members. They are bigint here, because JavaScript's numbers are exact only up to 2^53. */
const INT64_MEMBERS: readonly string[] = ["id", "categoryId"] satisfies (keyof Pet)[];

/** An animal to add. Its status is `available` by default. */
export type NewPet = Omit<Pet, "id" | "status"> & { status?: PetStatus };

/** Which animals to list. */
export interface PetFilter {
  /** how many animals one request returns, 1 to 100; `list` returns all animals, page by page */
  pageSize?: number;
  status?: PetStatus;
}

export type ErrorCode =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "gone"
  | "payload_too_large"
  | "unsupported_media_type"
  | "idempotency_mismatch"
  | "too_many_requests"
  | "internal_error"
  | "unavailable"
  | "timeout";

/** A response without what the client asked for: an error of the API, or the response of a proxy. Check its code. */
export class PetStoreError extends Error {
  override readonly name = "PetStoreError";
  /** undefined if something between the client and the API responded, such as a proxy */
  readonly code: ErrorCode | undefined;
  readonly status: number;
  /** quote it when you report a problem */
  readonly requestId: string | undefined;

  /** @param problem the message if the response has none */
  constructor({ status, text, headers }: Reply, problem = `The response has status ${status}.`) {
    const { code, message } = readError(text);
    super(message ?? problem);
    this.code = code;
    this.status = status;
    this.requestId = headers.get("x-amzn-requestid") ?? undefined;
  }
}

/** The error of a failed `add`, from the API or from `fetch`. */
export interface AddError extends Error {
  /** pass it to `add` within 24 hours to try again: if the animal was added, that does not add it twice */
  idempotencyKey: string;
}

export interface ClientOptions {
  /** ends in /v1 */
  baseUrl: string;
  /** with the scopes of the operations that the client calls */
  apiKey: string;
  /** how long `add`, or one page of `list`, can take with all retries, in ms; 60 s by default. A computer's sleep can count */
  deadline?: number;
  /** how long one attempt can take, in milliseconds; 10 s by default */
  attemptTimeout?: number;
}

interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

/** Failures that can pass: too many requests, and errors of the service or of a gateway in front of it. */
const RETRIED = [429, 500, 502, 503, 504];
/** The longest pause before the first retry, in milliseconds. It doubles with every retry. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5000;

/** Reads an Error body. What is no text counts as missing: a proxy can send anything. */
function readError(body: string): { code?: ErrorCode; message?: string } {
  try {
    const members = Object.entries(JSON.parse(body) ?? {});
    return Object.fromEntries(members.filter(([, value]) => typeof value === "string"));
  } catch {
    return {};
  }
}

const isInt64 = (name: string) => INT64_MEMBERS.includes(name);

const isPet = (value: unknown): value is Pet => typeof (value as Pet | null)?.id === "bigint";
const isPets = (value: unknown): value is Pet[] => Array.isArray(value) && value.every(isPet);

/**
 * Reads a success without rounding. `JSON.parse` rounds integers beyond 2^53, so it gets them as strings. The pattern
 * matches every string, so that it finds no member in a string value.
 *
 * @throws PetStoreError for anything but the expected JSON, such as the page of a proxy
 */
function readPets<T>(reply: Reply, isExpected: (value: unknown) => value is T): T {
  try {
    JSON.parse(reply.text); // The pattern needs quadratic time for a text that is not JSON.
    const quoted = reply.text.replace(/"((?:[^"\\]|\\.)*)"(?:\s*:\s*(-?\d+))?/g, (token, name, digits) =>
      digits !== undefined && isInt64(name) ? `"${name}":"${digits}"` : token,
    );
    const value = JSON.parse(quoted, (name, value) => (isInt64(name) ? BigInt(String(value)) : value));
    if (isExpected(value)) return value;
  } catch {
    // not JSON, or an int64 member that is no integer
  }
  throw new PetStoreError(reply, `The response has status ${reply.status}, but no animals.`);
}

/** Writes a pet as JSON, its bigint members as integers. */
function stringifyPet(pet: NewPet): string {
  const members = Object.entries(pet)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `"${name}":${typeof value === "bigint" ? value : JSON.stringify(value)}`);
  return `{${members.join(",")}}`;
}

/**
 * Returns the query of the next page (RFC 8288), or undefined on the last page. The client uses only the query of the link,
 * so it never sends the key to another host. It refuses a link without a cursor, and one that it has `followed` before: the
 * list would not end.
 */
function nextQuery(reply: Reply, followed: Set<string>): string | undefined {
  const link = /<([^>]*)>; rel="next"/.exec(reply.headers.get("link") ?? "")?.[1];
  if (link === undefined) return undefined;
  const query = /\?[^#]*/.exec(link)?.[0] ?? "";
  if (followed.has(query) || !new URLSearchParams(query).get("cursor"))
    throw new PetStoreError(reply, "The link to the next page leads to no other page.");
  followed.add(query);
  return query;
}

function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const abort = () => resolve(clearTimeout(timer));
    const timer = setTimeout(() => resolve(signal?.removeEventListener("abort", abort)), milliseconds);
    signal?.addEventListener("abort", abort);
  });
}

/**
 * Makes a client of one stage. Its methods retry lost connections, timeouts, 429, 500, 502, 503 and 504 with
 * growing random pauses, and wait at least as long as `Retry-After` says.
 *
 * @returns the methods; they throw PetStoreError for a response without animals, and the error of `fetch` if the last
 *   attempt got no response before the deadline
 */
export function petStore({ baseUrl, apiKey, deadline = 60_000, attemptTimeout = 10_000 }: ClientOptions) {
  async function call(path: string, callerSignal?: AbortSignal, init: RequestInit = {}): Promise<Reply> {
    const end = performance.now() + deadline;
    // An invalid URL, key or time limit throws before `try`, so it is not retried. The error of URL repeats a password.
    if (!/^https?:\/\/[^/?#@]+(\/|$)/i.test(baseUrl))
      throw new TypeError("The baseUrl is invalid: use http or https, and no user name or password.");
    const url = new URL(baseUrl + path);
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${apiKey}`);
    let left = deadline;
    for (let retries = 0; ; retries++) {
      const timeout = AbortSignal.timeout(Math.min(attemptTimeout, left));
      const signal = callerSignal ? AbortSignal.any([timeout, callerSignal]) : timeout;
      let reply: Reply | undefined;
      let failure: unknown;
      try {
        // A redirect could hand the animal and its Idempotency-Key to another host.
        const response = await fetch(url, { ...init, headers, redirect: "manual", signal });
        // Reading the body is part of the attempt: the connection can be lost here too.
        reply = { status: response.status, headers: response.headers, text: await response.text() };
        if (response.ok) return reply;
        failure = new PetStoreError(reply);
      } catch (error) {
        failure = error;
      }

      callerSignal?.throwIfAborted();
      const wait = Math.max(0, Number(reply?.headers.get("retry-after")) || 0) * 1000;
      const pause = wait + Math.round(Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** retries));
      const canRetry = !reply || RETRIED.includes(reply.status);
      if (!canRetry || performance.now() + pause >= end) throw failure;
      await pauseFor(pause, callerSignal);
      left = Math.round(end - performance.now()); // AbortSignal.timeout takes whole numbers only.
      if (left <= 0) throw failure; // The process was suspended.
    }
  }

  return {
    /**
     * Adds an animal. Every attempt has the same Idempotency-Key, so retries add it only once.
     *
     * @param options.idempotencyKey a new UUID by default; never use one for two animals, even years later
     * @param options.signal ends the call, which then throws the reason of the signal
     * @throws AddError
     */
    async add(pet: NewPet, options: { idempotencyKey?: string; signal?: AbortSignal } = {}): Promise<Pet> {
      const { idempotencyKey = crypto.randomUUID(), signal } = options;
      const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
      try {
        const init = { method: "POST", headers, body: stringifyPet(pet) };
        return readPets(await call("/pets", signal, init), isPet);
      } catch (error) {
        throw Object.assign(error as Error, { idempotencyKey }) satisfies AddError;
      }
    },

    /** Returns all animals one by one. It requests the next page when it needs it. `signal` is as for `add`. */
    async *list(filter: PetFilter = {}, options: { signal?: AbortSignal } = {}): AsyncGenerator<Pet> {
      const query = new URLSearchParams();
      if (filter.pageSize !== undefined) query.set("limit", String(filter.pageSize));
      if (filter.status !== undefined) query.set("status", filter.status);
      const followed = new Set<string>();
      for (let search: string | undefined = `?${query}`; search !== undefined; ) {
        const reply: Reply = await call(`/pets${search}`, options.signal);
        yield* readPets(reply, isPets);
        search = nextQuery(reply, followed);
      }
    },
  };
}
