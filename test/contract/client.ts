import { randomUUID } from "node:crypto";
import { expect } from "@jest/globals";
import { parseJson } from "../../lib/http/json.ts";
import type { Pet } from "../../lib/pet.ts";
import { undocumented } from "./documented.ts";

export const baseUrl = process.env.CONTRACT_URL ?? "";
export const key = process.env.CONTRACT_KEY ?? "";

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** integers are bigint */
  body: unknown;
}

export interface Call {
  method?: string;
  /** in place of the good key; null sends no Authorization header */
  authorization?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/**
 * Calls the service under test and checks what holds for every response: JSON, and for an error exactly
 * the members of Error, its status that of the response (SPEC 7); and whatever openapi.json says of it.
 *
 * @param path below the base address, or a whole address
 */
export async function call(path: string, options: Call = {}): Promise<Reply> {
  const { authorization = `Bearer ${key}`, headers = {}, ...init } = options;
  const address = path.startsWith("http") ? path : baseUrl + path;
  const response = await fetch(address, {
    ...init,
    headers: { ...(authorization === null ? {} : { Authorization: authorization }), ...headers },
  });
  const text = await response.text();
  expect(response.headers.get("content-type")).toBe("application/json");
  const body = options.method === "HEAD" ? undefined : parseJson(text);
  if (response.status >= 400 && options.method !== "HEAD") {
    expect(body).toEqual({
      code: expect.stringMatching(/^[a-z]+(_[a-z]+)*$/),
      message: expect.stringMatching(/\S\.$/),
      status: BigInt(response.status),
    });
  }
  const answer = { status: response.status, headers: response.headers };
  const [route = ""] = address.slice(baseUrl.length).split("?");
  // As JSON.parse reads it: the document counts an int64 as a number.
  const plain = body === undefined ? undefined : JSON.parse(text);
  expect(undocumented(options.method ?? "GET", route, { ...answer, body: plain })).toEqual([]);
  return { ...answer, text, body };
}

/** Sends a body as JSON text to POST /pets. */
export const post = (body: string, headers: Record<string, string> = {}) =>
  call("/pets", { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body });

/**
 * Adds an animal and checks that it was added as asked. As a client should, it tries again where the service asks it
 * to: a stage that nobody used for a while can be slow to meet many requests at once.
 */
export async function add(pet: { name: string; categoryId: bigint; status?: string }): Promise<Pet> {
  const status = pet.status ? `,"status":"${pet.status}"` : "";
  const body = `{"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}${status}}`;
  const idempotencyKey = { "Idempotency-Key": randomUUID() };
  let reply = await post(body, idempotencyKey);
  for (let tries = 5; reply.headers.has("retry-after") && tries > 0; tries--) {
    await new Promise((resolve) => setTimeout(resolve, Number(reply.headers.get("retry-after")) * 1000));
    reply = await post(body, idempotencyKey);
  }
  expect(reply.status).toBe(201);
  expect(reply.body).toEqual({ status: "available", ...pet, id: expect.anything() });
  return reply.body as Pet;
}

/** The address of the next page, if there is one (RFC 8288). */
export const nextLink = ({ headers }: Reply) => /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];

/** Follows the links from a first page to the last; returns all animals in order. */
export async function walk(path: string): Promise<Pet[]> {
  const pets: Pet[] = [];
  for (let next: string | undefined = path; next; ) {
    const reply = await call(next);
    expect(reply.status).toBe(200);
    pets.push(...(reply.body as Pet[]));
    next = nextLink(reply);
    expect(next ?? baseUrl).toContain(baseUrl);
  }
  return pets;
}

/** Tries again until a check holds: the list shows a new animal a moment after it was added. */
export async function eventually<T>(attempt: () => Promise<T>, check: (value: T) => void): Promise<void> {
  for (let tries = 20; ; tries--) {
    const value = await attempt();
    try {
      return check(value);
    } catch (error) {
      if (tries === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
