// A client of the API in one file. Copy it. It needs no package, and runs where `fetch` exists: on Node 20 or later,
// Deno and Bun. Never put an API key into a web page: keys belong on servers.

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

export interface PetFilter {
  /** how many animals one request returns, 1 to 100 */
  limit?: number;
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

/** An error response of the API. Check its code. */
export class PetStoreError extends Error {
  override readonly name = "PetStoreError";
  /** undefined if something between the client and the API responded, such as a proxy */
  readonly code: ErrorCode | undefined;
  readonly status: number;
  /** quote it when you report a problem */
  readonly requestId: string | undefined;

  constructor({ status, text, headers }: Reply) {
    const { code, message } = readError(text);
    super(message ?? `The response has status ${status}.`);
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
  /** how long a call can take with all its retries, in milliseconds */
  deadline?: number;
  /** how long one attempt can take, in milliseconds */
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

function readError(text: string): { code?: ErrorCode; message?: string } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

const isInt64 = (name: string) => INT64_MEMBERS.includes(name);

/**
 * Parses the JSON of pets without rounding. `JSON.parse` rounds integers beyond 2^53, so it gets them as strings.
 * The pattern matches every string, so that it finds no member in a string value.
 */
function parsePets<T>(json: string): T {
  const quoted = json.replace(/"((?:[^"\\]|\\.)*)"(?:\s*:\s*(-?\d+))?/g, (token, name, digits) =>
    digits !== undefined && isInt64(name) ? `"${name}":"${digits}"` : token,
  );
  return JSON.parse(quoted, (name, value) => (isInt64(name) ? BigInt(String(value)) : value)) as T;
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
 * so it never sends the key to another host.
 */
function nextQuery({ headers }: Reply): string | undefined {
  const link = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  return link && new URL(link).search;
}

/**
 * Makes a client of one deployment. Its methods retry lost connections, timeouts, 429, 500, 502, 503 and 504 with
 * growing random pauses, and wait at least as long as `Retry-After` says.
 *
 * @returns the methods; they throw PetStoreError for an error response, and the error of `fetch` if the last attempt
 *   got no response before the deadline
 */
export function petStore({ baseUrl, apiKey, deadline = 60_000, attemptTimeout = 10_000 }: ClientOptions) {
  async function attempt(url: URL, init: RequestInit, timeout: number): Promise<Reply> {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeout) });
    // Reading the body is part of the attempt: the connection can be lost here too.
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  async function call(
    path: string,
    init: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Reply> {
    const end = Date.now() + deadline;
    // An invalid URL or key throws here, before the loop that retries.
    const url = new URL(baseUrl + path);
    const request = { ...init, headers: new Headers({ ...init.headers, Authorization: `Bearer ${apiKey}` }) };
    for (let retries = 0; ; retries++) {
      let reply: Reply | undefined;
      let failure: unknown;
      try {
        reply = await attempt(url, request, Math.min(attemptTimeout, end - Date.now()));
      } catch (error) {
        failure = error;
      }
      if (reply && reply.status < 400) return reply;

      const wait = (Number(reply?.headers.get("retry-after")) || 0) * 1000;
      const pause = wait + Math.round(Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** retries));
      const canRetry = !reply || RETRIED.includes(reply.status);
      if (!canRetry || Date.now() + pause >= end) throw reply ? new PetStoreError(reply) : failure;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  return {
    /**
     * Adds an animal. Every attempt has the same Idempotency-Key, so retries add it only once.
     *
     * @param options.idempotencyKey a new UUID by default
     * @throws AddError
     */
    async add(pet: NewPet, { idempotencyKey = crypto.randomUUID() as string } = {}): Promise<Pet> {
      const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
      try {
        const { text } = await call("/pets", { method: "POST", headers, body: stringifyPet(pet) });
        return parsePets(text);
      } catch (error) {
        throw Object.assign(error as Error, { idempotencyKey }) satisfies AddError;
      }
    },

    /** Returns all animals one by one. It requests the next page when it needs it. */
    async *list(filter: PetFilter = {}): AsyncGenerator<Pet> {
      const query = new URLSearchParams();
      if (filter.limit !== undefined) query.set("limit", String(filter.limit));
      if (filter.status !== undefined) query.set("status", filter.status);
      for (let search: string | undefined = `?${query}`; search !== undefined; ) {
        const reply: Reply = await call(`/pets${search}`);
        yield* parsePets<Pet[]>(reply.text);
        search = nextQuery(reply);
      }
    },
  };
}
