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

/** An animal to add. Its status is `available` by default. */
export type NewPet = Omit<Pet, "id" | "status"> & { status?: PetStatus };

// These members are bigint, because JavaScript's numbers are exact only up to 2^53.
const INT64_MEMBERS: readonly string[] = ["id", "categoryId"] satisfies (keyof Pet)[];

const [ATTEMPTS, ATTEMPT_MS, LONGEST_PAUSE_MS] = [6, 10_000, 60_000];
const IDEMPOTENCY_KEY = /^(?:[!#-~](?:[ -~]{0,253}[!-~])?|"(?:[ !#-[\]-~]|\\["\\]){1,255}")$/; // bare or quoted

/** A response without what the client asked for: an error of the API, or the response of a proxy. */
export class PetStoreError extends Error {
  override readonly name = "PetStoreError";
  readonly status: number;
  readonly code: string | undefined; // undefined if something between the client and the API responded
  readonly requestId: string | null; // quote it when you report a problem

  constructor({ status, headers }: Response, text: string) {
    const { code, message } = (parse(text) ?? {}) as Record<string, unknown>;
    super(typeof message === "string" ? message : `The response has status ${status}, and no animals.`);
    this.status = status;
    this.code = typeof code === "string" ? code : undefined;
    this.requestId = headers.get("x-amz-apigw-id");
  }
}

/** Reads JSON, and its int64 members as bigint. Returns undefined for other text, such as a body that was cut off. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, (name, value, { source = "" }: { source?: string } = {}) =>
      INT64_MEMBERS.includes(name) && /^-?\d+$/.test(source) ? BigInt(source) : value,
    );
  } catch {
    return undefined;
  }
}

/** Writes a pet as JSON, its bigint members as integers. */
function stringify(pet: NewPet): string {
  const members = Object.entries(pet).filter(([, value]) => value !== undefined);
  const json = (value: unknown) => (typeof value === "bigint" ? value : JSON.stringify(value));
  return `{${members.map(([name, value]) => `"${name}":${json(value)}`).join(",")}}`;
}

/**
 * Makes a client of one stage. It retries five times after a lost connection, no response in 10 s, a success without the
 * animals, a 429, 500, 502, 503 or 504, with growing random pauses after the time in `Retry-After`, if it is below a minute.
 * The methods throw PetStoreError, the error of `fetch` if there is no response, an error of what you passed, or the reason
 * of the `signal`, which ends a call. The `baseUrl` ends in the version, such as /v1.
 */
export function petStore({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
  async function call(path: string, isList: boolean, signal?: AbortSignal, init: RequestInit = {}) {
    if (!URL.canParse(baseUrl) || !/^https?:\/\/[^/?#@]+\//i.test(baseUrl))
      throw new TypeError("The baseUrl must be a URL such as https://api.example/v1."); // `fetch` would repeat a wrong one
    if (!/^[!-~]+$/.test(apiKey ?? "")) throw new TypeError("The apiKey must be ASCII without spaces.");
    if ((parse('{"id":1}') as Pet).id !== 1n)
      throw new Error("JSON.parse has no source: use Node 22 or later.");
    const headers = { ...init.headers, Authorization: `Bearer ${apiKey}` };
    for (let attempt = 1; ; attempt++) {
      let pause = 100 * 2 ** attempt * Math.random();
      try {
        const ended = AbortSignal.any([AbortSignal.timeout(ATTEMPT_MS), ...(signal ? [signal] : [])]);
        // A redirect could hand the animal and its Idempotency-Key to another host.
        const response = await fetch(baseUrl + path, { ...init, headers, signal: ended, redirect: "manual" });
        const text = await response.text(); // part of the attempt: the connection can be lost here, too
        const pets = isList ? parse(text) : [parse(text)];
        if (response.ok && Array.isArray(pets) && pets.every((pet) => typeof pet?.id === "bigint"))
          return { pets: pets as Pet[], link: response.headers.get("link") ?? "" };
        const after = response.headers.get("retry-after") ?? "";
        pause += Math.max(0, Number.parseFloat(after) * 1000 || Date.parse(after) - Date.now() || 0);
        // Too many requests, and errors of the service or of a gateway in front of it, can pass. Other errors cannot.
        if (!response.ok && ![429, 500, 502, 503, 504].includes(response.status)) pause = Infinity;
        throw new PetStoreError(response, text);
      } catch (error) {
        if (attempt === ATTEMPTS || pause > LONGEST_PAUSE_MS || signal?.aborted) throw error;
      }
      await setTimeout(pause, undefined, { signal: signal ?? undefined }).catch(() => {}); // the next attempt throws
    }
  }

  return {
    /** Adds an animal once: every attempt has the same Idempotency-Key. Pass a key of yours to try again later. */
    async add(pet: NewPet, options: { idempotencyKey?: string; signal?: AbortSignal } = {}): Promise<Pet> {
      const { idempotencyKey = crypto.randomUUID(), signal } = options;
      if (typeof idempotencyKey !== "string" || !IDEMPOTENCY_KEY.test(idempotencyKey))
        throw new TypeError("The idempotencyKey must be 1 to 255 printable ASCII characters.");
      const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
      const { pets } = await call("/pets", false, signal, { method: "POST", headers, body: stringify(pet) });
      return pets[0] as Pet;
    },

    /** Returns all animals one by one. It requests a page of 1 to 100 animals when the loop reaches the page. */
    async *list(
      { status, pageSize = 100 }: { status?: PetStatus; pageSize?: number } = {},
      { signal }: { signal?: AbortSignal } = {},
    ): AsyncGenerator<Pet> {
      const only = status === undefined ? "" : `&status=${encodeURIComponent(status)}`;
      let query: string | undefined = `?limit=${pageSize}${only}`;
      while (query) {
        const page: { pets: Pet[]; link: string } = await call(`/pets${query}`, true, signal);
        for (const pet of page.pets) yield pet;
        // Only the query of the link, so the key never goes to another host. The same link would never end.
        const next: string | undefined = /<[^>?]*(\?[^>]+)>; rel="next"/.exec(page.link)?.[1];
        if (next === query) throw new Error("The link to the next page leads to the same page.");
        query = next;
      }
    },
  };
}
