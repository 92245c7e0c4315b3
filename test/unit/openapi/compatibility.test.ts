import { readFile } from "node:fs/promises";
import { describe, expect, it } from "@jest/globals";
import { breakingChanges } from "../../support/breaking-changes.ts";

// biome-ignore lint/suspicious/noExplicitAny: the cases reach into any part of the document
type Json = any;

const read = async (name: string): Promise<Json> =>
  JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), "utf8"));

const released = await read("openapi.released.json");

/** What a change to the released document breaks. */
function broken(change: (document: Json) => void): string[] {
  const document = structuredClone(released);
  change(document);
  return breakingChanges(released, document);
}

describe("openapi.json", () => {
  it("breaks no client of the released document", async () => {
    const changes = breakingChanges(released, await read("openapi.json"));
    if (changes.length > 0) {
      throw new Error(`These changes break clients. See CONTRIBUTING.md:\n- ${changes.join("\n- ")}`);
    }
  });
});

describe("breakingChanges", () => {
  const NewPet = (d: Json) => d.components.schemas.NewPet;
  const list = (d: Json) => d.paths["/pets"].get;
  const limit = (d: Json) => list(d).parameters.find(({ name }: Json) => name === "limit");

  it.each<[string, (document: Json) => void, string]>([
    ["a path", (d) => delete d.paths["/pets/{petId}"], "/pets/{petId}: path removed"],
    ["an operation", (d) => delete d.paths["/pets"].post, "POST /pets: operation removed"],
    ["an operation's name", (d) => Object.assign(list(d), { operationId: "all" }), "operationId changed"],
    ["a status", (d) => delete list(d).responses[400], "GET /pets: response 400 removed"],
    ["one more success", (d) => Object.assign(list(d).responses, { 206: {} }), "response 206 is new"],
    ["a property", (d) => delete d.components.schemas.Pet.properties.name, "response property name removed"],
    [
      "a required response property",
      (d) => d.components.schemas.Pet.required.pop(),
      "status is no longer required",
    ],
    ["a type", (d) => Object.assign(d.components.schemas.Pet.properties.id, { type: "string" }), "type"],
    [
      "null",
      (d) => Object.assign(d.components.schemas.Pet.properties.name, { type: ["string", "null"] }),
      "type",
    ],
    ["one more error code", (d) => d.components.schemas.Error.properties.code.enum.push("x"), "enum value x"],
    ["a header", (d) => delete list(d).responses[429].headers["Retry-After"], "header Retry-After removed"],
    [
      "a certain header",
      (d) => Object.assign(list(d).responses[401].headers["WWW-Authenticate"], { required: false }),
      "now optional",
    ],
    [
      "a required property",
      (d) => NewPet(d).required.push("status"),
      "request property status is now required",
    ],
    ["a request property", (d) => delete NewPet(d).properties.status, "request property status removed"],
    [
      "a shorter name",
      (d) => Object.assign(NewPet(d).properties.name, { maxLength: 255 }),
      "narrowed: maxLength",
    ],
    ["a pattern", (d) => Object.assign(NewPet(d).properties.name, { pattern: "^R" }), "narrowed: pattern"],
    [
      "a smaller integer",
      (d) => Object.assign(NewPet(d).properties.categoryId, { format: "int32" }),
      "narrowed: format",
    ],
    [
      "a request's type",
      (d) => Object.assign(NewPet(d).properties.categoryId, { type: "string" }),
      "integer to string",
    ],
    ["a request's value", (d) => d.components.schemas.PetStatus.enum.pop(), "narrowed: enum value sold"],
    [
      "a limit",
      (d) => Object.assign(limit(d).schema, { maximum: 50 }),
      "query limit: request narrowed: maximum",
    ],
    ["a default", (d) => Object.assign(limit(d).schema, { default: 10 }), "query limit: default changed"],
    [
      "a default in words",
      (d) => Object.assign(NewPet(d).properties.status, { description: "Default: `sold`" }),
      "body.status: default changed",
    ],
    ["a parameter", (d) => list(d).parameters.shift(), "parameter removed: query limit"],
    [
      "an optional parameter",
      (d) => Object.assign(limit(d), { required: true }),
      "parameter is now required: query limit",
    ],
    ["a strict body", (d) => Object.assign(NewPet(d), { additionalProperties: false }), "no longer accepted"],
    [
      "a new required parameter",
      (d) => list(d).parameters.push({ name: "X", in: "header", required: true, schema: {} }),
      "header x",
    ],
    [
      "the security scheme",
      (d) => delete d.components.securitySchemes.apiKey,
      "security scheme apiKey removed",
    ],
    [
      "another security scheme",
      (d) => Object.assign(list(d), { security: [{ other: [] }] }),
      "security changed",
    ],
  ])("reports a change of %s", (_what, change, message) => {
    expect(broken(change).join("\n")).toContain(message);
  });

  it.each<[string, (document: Json) => void]>([
    ["a path", (d) => Object.assign(d.paths, { "/toys": d.paths["/pets"] })],
    ["an operation", (d) => Object.assign(d.paths["/pets"], { delete: list(d) })],
    ["an optional parameter", (d) => list(d).parameters.push({ name: "X", in: "header", schema: {} })],
    ["an optional property", (d) => Object.assign(NewPet(d).properties, { note: { type: "string" } })],
    ["a response property", (d) => Object.assign(d.components.schemas.Pet.properties, { note: {} })],
    ["an error", (d) => Object.assign(list(d).responses, { 422: list(d).responses[400] })],
    [
      "a header",
      (d) => Object.assign(list(d).responses[200], { headers: { ...list(d).responses[200].headers, X: {} } }),
    ],
    ["a wider limit", (d) => Object.assign(limit(d).schema, { maximum: 200 })],
    ["other words", (d) => Object.assign(NewPet(d), { description: "x", examples: [] })],
    ["a deprecation", (d) => Object.assign(list(d), { deprecated: true })],
  ])("accepts the addition of %s", (_what, change) => {
    expect(broken(change)).toEqual([]);
  });
});
