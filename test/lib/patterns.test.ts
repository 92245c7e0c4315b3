import { beforeAll, describe, expect, it } from "@jest/globals";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { apiKeyPattern, isApiKeyOf } from "../../lib/api-key.ts";
import { decodeCursor } from "../../lib/cursor.ts";
import { parseJson } from "../../lib/http/json.ts";
import { baseUrl, readRequest } from "../../lib/http/request.ts";
import { parseInt64 } from "../../lib/int64.ts";
import { createPet, getPet, listPets } from "../../lib/operations.ts";
import { NewPet } from "../../lib/pet.ts";
import { event } from "../support/event.ts";

const SIZE = 100_000;

/** Whatever a reader says of hostile text, what counts here is that it says it soon. */
const attempt = (read: () => unknown) => {
  try {
    read();
  } catch {
    // refused
  }
};
const timeOf = (work: () => void) => {
  const start = performance.now();
  work();
  return performance.now() - start;
};

const body = (text: string, headers?: Record<string, string>) =>
  readRequest(createPet, event({ body: text, ...(headers && { headers }) }));

/** Everything in lib/ that reads what a client sent. */
const readers: [string, (text: string) => unknown][] = [
  ["parseInt64", parseInt64],
  ["decodeCursor", decodeCursor],
  ["isApiKeyOf", (text) => isApiKeyOf("local", text)],
  ["isApiKeyOf, after its prefix", (text) => isApiKeyOf("local", `ask_local_${text}`)],
  ["the gateway's pattern", (text) => new RegExp(`^Bearer +${apiKeyPattern}$`).test(`Bearer ${text}`)],
  ["the stage in a key", (text) => new RegExp(`^${apiKeyPattern}$`).test(`ask_${text}`)],
  ["NewPet's name", (name) => NewPet.safeParse({ name, categoryId: 1n })],
  ["NewPet's status", (status) => NewPet.safeParse({ name: "Rex", categoryId: 1n, status })],
  ["parseJson", parseJson],
  ["parseJson, a number", (text) => parseJson(`[-1${text}]`)],
  ["a body", body],
  ["Content-Type", (text) => body("{}", { "Content-Type": text })],
  [
    "a parameter of Content-Type",
    (text) => body("{}", { "Content-Type": `application/json;charset=${text}` }),
  ],
  [
    "Content-Encoding",
    (text) => body("{}", { "Content-Type": "application/json", "Content-Encoding": text }),
  ],
  ["a path", (text) => readRequest(getPet, event({ path: { petId: text } }))],
  ["limit", (text) => readRequest(listPets, event({ query: { limit: [text] } }))],
  ["status", (text) => readRequest(listPets, event({ query: { status: [text] } }))],
  [
    "Host",
    (Host) => baseUrl(event({ headers: { Host, "X-Forwarded-Proto": Host } }) as APIGatewayProxyEvent),
  ],
];
const units = [
  "0",
  "9",
  "a",
  "A",
  " ",
  "-",
  "_",
  ";",
  "=",
  '"',
  "\\",
  "[",
  "{",
  "%",
  "%41",
  ".0",
  "0.",
  "é",
  "🐕",
];
const words = [
  "\ud800",
  "\n",
  "\t ",
  "; ",
  "charset=",
  "ask_",
  "ask_a_",
  '"a":',
  "Bearer ",
  "e1",
  "-1",
  "\u0000",
];
const hostile = [...units, ...words].flatMap((unit) => {
  const text = unit.repeat(Math.ceil(SIZE / unit.length));
  return [text, `${text}!`, `1${text}`];
});

describe("no reader of a client's text is slow", () => {
  let linear: number;

  // Two thousand passes over a text of the same size: what backtracks over it needs far more.
  beforeAll(() => {
    const text = "x".repeat(SIZE);
    linear = timeOf(() => {
      let sum = 0;
      for (let pass = 0; pass < 2000; pass++) for (let i = 0; i < SIZE; i++) sum += text.charCodeAt(i);
      expect(sum).toBeGreaterThan(0);
    });
  });

  it.each(readers)("%s", (_name, read) => {
    for (const text of hostile) {
      const took = Math.min(...[1, 2, 3].map(() => timeOf(() => attempt(() => read(text)))));
      expect([text.slice(0, 10), took < linear]).toEqual([text.slice(0, 10), true]);
    }
  });
});

describe("no input reaches a prototype", () => {
  const own = Reflect.ownKeys(Object.prototype);
  const poison = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];
  const untouched = () => expect(Reflect.ownKeys(Object.prototype)).toEqual(own);

  it.each(poison)("through a body's member %s", (name) => {
    const value = '{"polluted":1,"status":"sold","prototype":{"polluted":1}}';
    const pet = body(`{"name":"Rex","categoryId":1,"${name}":${value}}`).body;
    expect(pet).toEqual({ name: "Rex", categoryId: 1n, status: "available" });
    expect(Object.getPrototypeOf(pet)).toBe(Object.prototype);
    attempt(() => body(`{"${name}":{"name":"Rex","categoryId":1}}`));
    untouched();
  });

  it.each(poison)("through a query's or a path's %s", (name) => {
    const query = JSON.parse(`{"${name}":["1"],"limit":["5"]}`);
    expect(readRequest(listPets, event({ query })).query).toEqual({ limit: 5 });
    const path = JSON.parse(`{"${name}":"1","petId":"5"}`);
    expect(readRequest(getPet, event({ path })).params).toEqual({ petId: 5n });
    untouched();
  });

  it("through a header", () => {
    const headers = JSON.parse('{"__proto__":"application/json","Content-Type":"application/json"}');
    expect(body('{"name":"Rex","categoryId":1}', headers).body.name).toBe("Rex");
    untouched();
  });
});
