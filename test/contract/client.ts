import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect } from "@jest/globals";
import type * as z from "zod/mini";
import { creationOrder } from "../../lib/creation.ts";
import { encodeCursor } from "../../lib/cursor.ts";
import { parseJson, stringifyJson } from "../../lib/http/json.ts";
import type { NewPet, Pet } from "../../lib/pet.ts";
import { differencesFromDocument } from "../support/openapi-document.ts";
import { shared } from "../support/shared.ts";

const baseUrl = shared.baseUrl;
export const key = shared.key;

/** The pets of other clients are on these pages, too. */
const MAX_PAGES = 1000;

interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** integers are bigint */
  body: unknown;
}

interface CallOptions {
  method?: string;
  /** replaces the valid key; null sends no Authorization header */
  authorization?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/**
 * Calls the service under test and checks what every response must fulfil: it is JSON unless it is a 204, an error has its
 * status and a sentence (contract 7.1), and the response is as openapi.json describes it, without any other member.
 *
 * @param path relative to the base URL, or a whole URL
 */
export async function call(path: string, options: CallOptions = {}): Promise<Reply> {
  const { authorization = `Bearer ${key}`, headers = {}, ...init } = options;
  const address = path.startsWith("http") ? path : baseUrl + path;
  const response = await fetch(address, {
    ...init,
    headers: { ...(authorization === null ? {} : { Authorization: authorization }), ...headers },
  });
  const { status } = response;
  const text = await response.text();
  const hasBody = options.method !== "HEAD" && status !== 204;
  if (status === 204) expect(text).toBe("");
  else expect(response.headers.get("content-type")).toBe("application/json");
  const body = hasBody ? parseJson(text) : undefined;
  if (status >= 400 && hasBody)
    expect(body).toMatchObject({ message: expect.stringMatching(/\S\.$/), status: BigInt(status) });
  const [route = ""] = address.slice(baseUrl.length).split("?");
  // As JSON.parse reads it, because the document describes an int64 as a number.
  const plain = body === undefined ? undefined : JSON.parse(text);
  expect(
    differencesFromDocument(options.method ?? "GET", route, {
      status,
      headers: response.headers,
      body: plain,
    }),
  ).toEqual([]);
  return { status, headers: response.headers, text, body };
}

/** Sends a body as JSON text to POST /pets. */
export const post = (body: string, headers: Record<string, string> = {}) =>
  call("/pets", { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body });

/**
 * Adds a pet and checks the response. It retries a response with Retry-After, as a client should: a stage that was
 * idle for a while can be slow to handle many requests at once.
 */
export async function add(pet: z.input<typeof NewPet>): Promise<Pet> {
  const body = stringifyJson(pet);
  const idempotencyKey = { "Idempotency-Key": randomUUID() };
  let reply = await post(body, idempotencyKey);
  for (let tries = 5; reply.headers.has("retry-after") && tries > 0; tries--) {
    await setTimeout(Number(reply.headers.get("retry-after")) * 1000);
    reply = await post(body, idempotencyKey);
  }
  expect({ sent: body, ...reply }).toMatchObject({ sent: body, status: 201 });
  expect(reply.body).toEqual({ status: "available", ...pet, id: expect.anything() });
  return reply.body as Pet;
}

/**
 * Makes calls at once, but never more than a new account's ten concurrent Lambda functions can serve.
 *
 * @returns the results in order
 */
export async function atOnce<T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < count) {
    const batch = Math.min(4, count - results.length);
    const indexes = Array.from({ length: batch }, (_, n) => results.length + n);
    results.push(...(await Promise.all(indexes.map(run))));
  }
  return results;
}

/** A cursor after the pets that were added until 20 seconds ago, by any clock. */
export const recent = () => encodeCursor(creationOrder(Date.now() - 20_000));

/** Returns the URL of the next page, if there is one (RFC 8288). */
export const nextLink = ({ headers }: Reply) => /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];

/** Follows the links to the last page; returns the pages in order. */
export async function followLinks(path: string): Promise<Pet[][]> {
  const pages: Pet[][] = [];
  for (let next: string | undefined = path; next; ) {
    if (pages.length === MAX_PAGES)
      throw new Error(`After ${MAX_PAGES} pages, there is another one: ${next}`);
    const reply = await call(next);
    expect(reply.status).toBe(200);
    pages.push(reply.body as Pet[]);
    next = nextLink(reply);
    expect(next ?? baseUrl).toContain(baseUrl);
  }
  return pages;
}
