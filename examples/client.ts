// A client of the API in one file. Copy it. It runs without packages on Node 22.18 or later, Deno and Bun. Never put an API
// key into a web page: keys belong on servers.

import { setTimeout } from "node:timers/promises";

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
  readonly requestId: string | undefined;
  /** quote it when you report a problem */
  readonly extendedRequestId: string | undefined;

  /** @param problem the message if the response has none */
  constructor({ status, text, headers }: Reply, problem = `The response has status ${status}.`) {
    const { code, message } = readError(text);
    super(message ?? problem);
    this.code = code;
    this.status = status;
    this.requestId = headers.get("x-amzn-requestid") ?? undefined;
    this.extendedRequestId = headers.get("x-amz-apigw-id") ?? undefined;
  }
}

/** The error of a failed `add`, from the API or from `fetch`. If the `signal` ended the call, `cause` is its reason. */
export interface AddError extends Error {
  /** pass it to `add` within 24 hours to try again: if the animal was added, that does not add it twice */
  idempotencyKey: string;
}

export interface ClientOptions {
  /** ends in the version, such as /v1 */
  baseUrl: string;
  /** with the scopes of the operations that the client calls */
  apiKey: string;
  /** how long `add`, or one page of `list`, can take with all retries, in ms; 60 s by default. A computer's sleep can count */
  deadline?: number;
  /** how long one attempt can take, in milliseconds; 10 s by default */
  attemptTimeout?: number;
}

type Reply = Pick<Response, "status" | "headers"> & { text: string };

/** Failures that can pass: too many requests, and errors of the service or of a gateway in front of it. */
const RETRIED = [429, 500, 502, 503, 504];
/** The longest pause before the first retry, in milliseconds. It doubles with every retry. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5000;
/** The longest time of a timer, and so of a call, in milliseconds: 24 days. A longer timer would end at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Reads an Error body. What is no text counts as missing: a proxy can send anything. */
function readError(body: string): { code?: ErrorCode; message?: string } {
  try {
    const members = Object.entries(JSON.parse(body) ?? {});
    return Object.fromEntries(members.filter(([, value]) => typeof value === "string"));
  } catch {
    return {};
  }
}

/**
 * Reads the animals of a success. `JSON.parse` rounds integers beyond 2^53, so the int64 members come from the source text.
 * Members of nested objects can have the same names, and stay as they are.
 *
 * @throws PetStoreError for anything but the expected JSON, such as the page of a proxy
 */
function readPets(reply: Reply, expected: "object" | "array"): Pet[] {
  const named: [holder: Pet, name: string, source: string | undefined][] = [];
  function find(this: Pet, name: string, value: unknown, context?: { source?: string }) {
    if (INT64_MEMBERS.includes(name)) named.push([this, name, context?.source]);
    return value;
  }
  try {
    const value = JSON.parse(reply.text, find);
    const pets = (expected === "array" ? value : [value]) as Pet[];
    const holders = new Set(pets);
    for (const [holder, name, source] of named)
      if (holders.has(holder)) Object.assign(holder, { [name]: BigInt(String(source)) });
    if (pets.every(({ id }) => typeof id === "bigint")) return pets;
  } catch {
    // not JSON, no array, or an int64 member that is no integer
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

/** How long a response asks to wait, in milliseconds: `Retry-After` has seconds or a date (RFC 9110, 10.2.3). */
function retryAfter(value: string): number {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value.replace(/( GMT)?$/, " GMT")); // Its oldest format does not name the time zone.
  return Math.max(0, date - Date.now()) || 0;
}

/**
 * Makes a client of one stage. Its methods retry lost connections, timeouts, 429, 500, 502, 503 and 504 with
 * growing random pauses, and wait at least as long as `Retry-After` says.
 *
 * @returns the methods; they throw PetStoreError for a response without animals, and the error of `fetch` if the last
 *   attempt got no response before the deadline
 */
export function petStore({ baseUrl, apiKey, deadline = 60_000, attemptTimeout = 10_000 }: ClientOptions) {
  async function call(path: string, signal?: AbortSignal, init: RequestInit = {}): Promise<Reply> {
    let left = Math.min(deadline, LONGEST_TIMER);
    const end = performance.now() + left;
    // What is invalid throws before `try`, so it is not retried. Errors of URL and Headers repeat the password or the key.
    if (!/^https?:\/\/[^/?#@]+(\/|$)/i.test(baseUrl))
      throw new TypeError("The baseUrl is invalid: use http or https, and no user name or password.");
    if (!/^[!-~]+$/.test(apiKey))
      throw new TypeError("The apiKey is invalid: use ASCII characters, no spaces and no line breaks.");
    const url = new URL(baseUrl + path);
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${apiKey}`);
    for (let retries = 0; ; retries++) {
      const timeout = AbortSignal.timeout(Math.round(Math.min(attemptTimeout, left)));
      let reply: Reply | undefined;
      try {
        const attempt = signal ? AbortSignal.any([timeout, signal]) : timeout;
        // A redirect could hand the animal and its Idempotency-Key to another host.
        const response = await fetch(url, { ...init, headers, redirect: "manual", signal: attempt });
        // Reading the body is part of the attempt: the connection can be lost here too.
        reply = { status: response.status, headers: response.headers, text: await response.text() };
        if (response.ok) return reply;
        throw new PetStoreError(reply);
      } catch (failure) {
        signal?.throwIfAborted();
        const backoff = Math.round(Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** retries));
        const pause = backoff + retryAfter(reply?.headers.get("retry-after") ?? "");
        const canRetry = !reply || RETRIED.includes(reply.status);
        if (!canRetry || performance.now() + pause >= end) throw failure;
        await setTimeout(pause, undefined, { signal }).catch(() => signal?.throwIfAborted());
        left = end - performance.now();
        if (left <= 0) throw failure; // The process was suspended.
      }
    }
  }

  return {
    /**
     * Adds an animal. Every attempt has the same Idempotency-Key, so retries add it only once.
     *
     * @param options.idempotencyKey a new UUID by default; never use one for two animals, even years later
     * @param options.signal ends the call
     * @throws AddError
     */
    async add(pet: NewPet, options: { idempotencyKey?: string; signal?: AbortSignal } = {}): Promise<Pet> {
      const { idempotencyKey = crypto.randomUUID(), signal } = options;
      const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
      try {
        const init = { method: "POST", headers, body: stringifyPet(pet) };
        const [added] = readPets(await call("/pets", signal, init), "object") as [Pet];
        return added;
      } catch (cause) {
        // Calls can share a signal, and its reason can be frozen or no object: the key needs an error of this call.
        const error = signal?.aborted ? new Error("The call was aborted.", { cause }) : (cause as Error);
        throw Object.assign(error, { idempotencyKey }) satisfies AddError;
      }
    },

    /** Returns all animals one by one. It requests the next page when it needs it. `signal` ends it with its reason. */
    async *list(filter: PetFilter = {}, options: { signal?: AbortSignal } = {}): AsyncGenerator<Pet> {
      const query = new URLSearchParams();
      if (filter.pageSize !== undefined) query.set("limit", String(filter.pageSize));
      if (filter.status !== undefined) query.set("status", filter.status);
      const followed = new Set<string>();
      for (let search: string | undefined = `?${query}`; search !== undefined; ) {
        const reply: Reply = await call(`/pets${search}`, options.signal);
        for (const pet of readPets(reply, "array")) yield pet;
        search = nextQuery(reply, followed);
      }
    },
  };
}
