import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import * as z from "zod/mini";
import { parseIdempotencyKey } from "../../lib/idempotency-key.ts";
import { openApiText } from "../../openapi/document.ts";
import { exampleOf } from "../../openapi/example-values.ts";
import { bodyContent } from "../../openapi/schemas.ts";
import type { Json } from "../support/json.ts";

// What the reviewed openapi.json cannot show: that it agrees with the service, and rules for what is added later.

const document = JSON.parse(openApiText());

it("publishes the pattern and the lengths of an Idempotency-Key", () => {
  const [{ name, schema }] = document.paths["/pets"].post.parameters;
  const longest = `"${'\\"'.repeat(255)}"`;
  expect(parseIdempotencyKey(longest)).toHaveLength(255);
  expect({ name, ...schema }).toMatchObject({
    name: "Idempotency-Key",
    minLength: 1,
    maxLength: longest.length,
  });
  for (const read of ["a b", '"a \\" b"', longest]) expect(read).toMatch(new RegExp(schema.pattern));
});

it("describes every parameter and every member of a schema, and has an example of every schema", () => {
  const operations = Object.values<object>(document.paths).flatMap(Object.values);
  const schemas = Object.entries<Json>(document.components.schemas);
  const described: Json[] = [
    ...operations.flatMap(({ operationId: of, parameters = [] }) =>
      parameters.map((one: Json) => ({ of, ...one })),
    ),
    ...schemas.flatMap(([of, { properties = {} }]) =>
      Object.entries<Json>(properties).map(([name, one]) => ({ of, name, ...one })),
    ),
  ];
  expect(described.filter(({ description }) => !description)).toEqual([]);
  for (const [, schema] of schemas)
    expect(schema).toMatchObject({ description: expect.any(String), examples: [expect.anything()] });
});

it("has an example of a member that can be null, and of a union", () => {
  const name = z.string().check(z.meta({ examples: ["Rex"] }));
  const schema = z.object({ one: z.nullable(name), two: z.optional(z.union([name, z.null()])) });
  expect(exampleOf(schema)).toEqual({ one: "Rex", two: "Rex" });
});

it("needs a name for the schema of every body, so that generated clients have one", () => {
  expect(() => bodyContent(z.object({}))).toThrow("needs a name");
});

it("has only patterns that generated clients can compile", () => {
  const patterns: string[] = [];
  JSON.stringify(document, (name, value) => {
    if (name === "pattern") patterns.push(value);
    return value;
  });
  expect(patterns).not.toEqual([]);
  // `v` refuses what Java and Ruby refuse, such as `[` inside a class.
  for (const pattern of patterns) for (const flags of ["u", "v"]) new RegExp(pattern, flags);
});

const config = await createConfig({
  extends: ["recommended-strict"],
  rules: {
    "operation-description": "error",
    "operation-singular-tag": "error",
    "operation-tag-defined": "error",
    "tag-description": "error",
    "no-invalid-parameter-examples": "error",
    "no-invalid-schema-examples": "error",
    "no-schema-type-mismatch": "error",
    "no-required-schema-properties-undefined": "error",
    // The document has a placeholder for the address of a deployment.
    "no-server-example.com": "off",
  },
});

it("is in openapi.json as `npm run generate` writes it", () => {
  expect(openApiText()).toBe(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8"));
});

it("breaks no rule of Redocly", async () => {
  const lint = (source: string) => lintFromString({ source, absoluteRef: "openapi.json", config });
  expect((await lint(openApiText())).map(({ ruleId, message }) => ({ ruleId, message }))).toEqual([]);
});
