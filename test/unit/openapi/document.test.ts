import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as z from "zod/mini";
import { decodeCursor, encodeCursor } from "../../../lib/cursor.ts";
import { type ErrorCode, errorBody, errorHeaders, errors } from "../../../lib/errors.ts";
import { idempotencyKeyPattern, parseIdempotencyKey } from "../../../lib/idempotency-key.ts";
import type { Operation } from "../../../lib/operation.ts";
import { operations } from "../../../lib/operations.ts";
import { openApiDocument, openApiText } from "../../../openapi/document.ts";
import { bodyContent } from "../../../openapi/schemas.ts";

const document = JSON.parse(openApiText());
const ErrorReference = { $ref: "#/components/schemas/Error" };
const ajv = new Ajv2020({ validateFormats: false });

describe("the document", () => {
  it.each<Operation>(operations)("has $id, its inputs, and every error that clients can get", (operation) => {
    const { id, method, path, summary, scope, body, success, errors: own, deprecation } = operation;
    const { parameters, requestBody, responses, ...documented } = document.paths[path][method.toLowerCase()];
    expect(documented).toMatchObject({ operationId: id, summary, security: [{ apiKey: [] }] });
    expect(documented.description).toContain(`Requires an API key with the scope \`${scope}\`.`);
    expect(documented.description).toContain(deprecation?.sunset.toISOString().slice(0, 10) ?? "");
    expect(documented.deprecated).toBe(deprecation && true);
    expect(requestBody?.required).toBe(body && true);
    for (const parameter of parameters)
      expect([parameter.name, parameter.required]).toEqual([parameter.name, parameter.in === "path"]);

    const all = [success.status, ...own.map((code) => errors[code].status), 401, 403, 429, 500, 503, 504];
    expect(Object.keys(responses)).toEqual([...all.sort((a, b) => a - b).map(String), "default"]);
    for (const response of Object.values(responses))
      expect(response).toHaveProperty("headers.x-amzn-RequestId");
    const { content, headers } = responses[success.status];
    expect(content?.["application/json"].example).toEqual(success.body && expect.anything());
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(Object.keys(success.headers ?? {})));
    expect(responses.default.content).toStrictEqual({ "application/json": { schema: ErrorReference } });
    for (const code of Object.keys(errors) as ErrorCode[]) {
      const response = responses[errors[code].status];
      if (!response) continue;
      const json = { schema: ErrorReference, example: errorBody(code) };
      expect(response.content).toStrictEqual({ "application/json": json });
      for (const [name, value] of Object.entries(errorHeaders(code))) {
        const { required, schema, example } = response.headers[name];
        expect([required, String(example), ajv.validate(schema, example)]).toEqual([true, value, true]);
      }
    }
  });

  it("describes parameters and bodies as the service reads them", () => {
    const { get, post } = document.paths["/pets"];
    const named = ({ parameters }: typeof get, wanted: string) =>
      parameters.find(({ name }: { name: string }) => name === wanted);
    const cursor = named(get, "cursor");
    const { length } = encodeCursor(1n);
    expect(cursor.schema).toMatchObject({ type: "string", minLength: length, maxLength: length });
    const idempotencyKey = named(post, "Idempotency-Key");
    expect(new RegExp(idempotencyKey.schema.pattern)).toEqual(idempotencyKeyPattern);
    const longest = `"${'\\"'.repeat(255)}"`;
    expect(parseIdempotencyKey(longest)).toHaveLength(255);
    expect(longest).toHaveLength(idempotencyKey.schema.maxLength);
    // No keyword `default`: see openapi/schemas.ts.
    const { required, properties } = document.components.schemas.NewPet;
    expect(required).not.toContain("status");
    expect(properties.status).not.toHaveProperty("default");
  });

  it("is tested by schemathesis with a cursor that the service accepts", () => {
    const config = readFileSync(new URL("../../../schemathesis.toml", import.meta.url), "utf8");
    expect(decodeCursor(/cursor = "(.*)"/.exec(config)?.[1] ?? "")).toBe(0n);
  });

  it("lets later versions add members, and names the local service first, which generators take by default", () => {
    expect(openApiText()).not.toContain("additionalProperties");
    const [local, { url, variables }] = document.servers;
    expect([new URL(local.url).hostname, url]).toEqual(["127.0.0.1", "https://{host}/v1"]);
    expect(new URL(`https://${variables.host.default}`).host).toBe(variables.host.default);
  });

  it.each<Operation>(operations.filter(({ deprecation }: Operation) => deprecation))(
    "says which responses of the deprecated $id always have the headers that announce its end, and which can have them",
    ({ path, method, deprecation }) => {
      const { responses } = document.paths[path][method.toLowerCase()];
      const examples = [`@${Number(deprecation?.since) / 1000}`, deprecation?.sunset.toUTCString()];
      // The gateway returns some errors as well as the function, and some instead of it.
      const byFunction = { 200: true, 403: true, 404: true, 410: true, 500: false, 503: false };
      for (const [status, required] of Object.entries(byFunction)) {
        const { Deprecation, Sunset, Link, "Cache-Control": cacheControl } = responses[status].headers;
        for (const header of [Deprecation, Sunset, Link, cacheControl])
          expect(header.required).toBe(required);
        expect([Deprecation.example, Sunset.example]).toEqual(examples);
      }
      for (const status of [401, 429, 504]) expect(responses[status].headers).not.toHaveProperty("Sunset");
    },
  );

  it("describes every schema and its members, with an example, and has nothing that JSON would lose", () => {
    expect(openApiDocument()).toStrictEqual(document);
    const { properties, required } = document.components.schemas.Error;
    expect(properties.code.enum).toEqual(Object.keys(errors));
    expect(required).toEqual(Object.keys(errorBody("gone")));
    const { license } = createRequire(import.meta.url)("../../../package.json");
    expect(document.info.license.identifier).toBe(license);
    for (const { properties = {}, ...schema } of Object.values<{ properties?: object }>(
      document.components.schemas,
    )) {
      expect(schema).toMatchObject({ description: expect.any(String), examples: [expect.anything()] });
      for (const [name, member] of Object.entries(properties))
        expect([name, member]).toEqual([name, expect.objectContaining({ description: expect.any(String) })]);
    }
    expect(openApiText()).not.toMatch(/"\$(id|schema)"/); // of separate JSON Schema documents
  });

  it("needs a name for the schema of every body, so that generated clients have one", () => {
    expect(() => bodyContent(z.object({}))).toThrow("needs a name");
  });
});
