import { readFile } from "node:fs/promises";
import { describe, expect, it } from "@jest/globals";
import * as z from "zod/mini";
import { encodeCursor } from "../../../lib/cursor.ts";
import { type ErrorCode, errorHeaders, errors } from "../../../lib/errors.ts";
import { idempotencyKeyPattern, parseIdempotencyKey } from "../../../lib/idempotency-key.ts";
import { operations } from "../../../lib/operations.ts";
import { openApiDocument, openApiText } from "../../../openapi/document.ts";
import { bodyContent } from "../../../openapi/schemas.ts";

const document = JSON.parse(openApiText());
const PetStatus = { $ref: "#/components/schemas/PetStatus" };

describe("the document", () => {
  it("is the committed openapi.json, so that every change of it is reviewed", async () => {
    expect(openApiText()).toBe(await readFile(new URL("../../../openapi.json", import.meta.url), "utf8"));
  });

  it("has every operation, with every status that it returns, and an Error for every other one", () => {
    for (const { id, method, path, success, errors: own } of operations) {
      const { operationId, parameters, responses, security } = document.paths[path][method.toLowerCase()];
      expect([operationId, security]).toEqual([id, [{ apiKey: [] }]]);
      for (const parameter of parameters)
        expect([parameter.name, parameter.required]).toEqual([parameter.name, parameter.in === "path"]);
      const announced = Object.keys("headers" in success ? success.headers : {});
      expect(Object.keys(responses[success.status].headers)).toEqual(expect.arrayContaining(announced));
      const statuses = [success.status, ...own.map((code) => errors[code].status)];
      const all = [...statuses, 401, 403, 429, 500, 503, 504].sort((a, b) => a - b);
      expect(Object.keys(responses)).toEqual([...all.map(String), "default"]);
      const { schema } = responses.default.content["application/json"];
      expect(schema).toStrictEqual({ $ref: "#/components/schemas/Error" });
      for (const code of Object.keys(errors) as ErrorCode[]) {
        for (const name of Object.keys(errorHeaders(code)))
          expect(responses[errors[code].status].headers[name].required).toBe(true);
      }
    }
    expect(document.components.schemas.Error.properties.code.enum).toEqual(Object.keys(errors));
    expect(document.components.schemas.Error.required).toEqual(["code", "message", "status"]);
  });

  it("describes parameters as clients write them", () => {
    const [limit, status, cursor] = document.paths["/pets"].get.parameters;
    expect(limit).toEqual({
      name: "limit",
      in: "query",
      required: false,
      description: "Maximum number of animals to return",
      schema: { type: "integer", format: "int32", minimum: 1, maximum: 100, default: 20 },
    });
    expect(status.schema).toStrictEqual(PetStatus);
    const { length } = encodeCursor(1n);
    expect(cursor.schema).toStrictEqual({ type: "string", minLength: length, maxLength: length });
    const [idempotencyKey] = document.paths["/pets"].post.parameters;
    expect(new RegExp(idempotencyKey.schema.pattern)).toEqual(idempotencyKeyPattern);
    const longest = `"${'\\"'.repeat(255)}"`;
    expect(parseIdempotencyKey(longest)).toHaveLength(255);
    expect(longest).toHaveLength(idempotencyKey.schema.maxLength);
    const [petId] = document.paths["/pets/{petId}"].get.parameters;
    expect(petId.schema).toStrictEqual({ type: "integer", format: "int64" });
  });

  it("describes bodies as clients send and receive them", () => {
    const { NewPet, Pet, Pets } = document.components.schemas;
    const description = expect.any(String);
    expect(NewPet).toMatchObject({
      required: expect.arrayContaining(["name", "categoryId"]),
      properties: {
        name: { type: "string", minLength: 1, maxLength: 256, description },
        categoryId: { type: "integer", format: "int64", description },
      },
    });
    // No keyword `default`: see describeMembers.
    expect(NewPet.required).not.toContain("status");
    expect(NewPet.properties.status).toStrictEqual({
      ...PetStatus,
      description: "Availability of the animal. Default: `available`",
    });
    expect(Pet).toMatchObject({
      required: expect.arrayContaining(["id", "name", "categoryId", "status"]),
      properties: {
        id: { type: "integer", format: "int64", description },
        status: { ...PetStatus, description },
      },
    });
    expect(Pets).toMatchObject({ type: "array", maxItems: 100, items: { $ref: "#/components/schemas/Pet" } });
  });

  it("lets later versions add members, and names the local service first, which generators take by default", () => {
    expect(openApiText()).not.toContain("additionalProperties");
    const urls = ["http://127.0.0.1:3000/v1", "https://{host}/v1"];
    expect(document.servers.map(({ url }: { url: string }) => url)).toEqual(urls);
  });

  it("marks only the deprecated operation", () => {
    expect(document.paths["/pets/{petId}"].get).toMatchObject({
      deprecated: true,
      "x-sunset": "2030-12-05",
      description: expect.stringContaining("From 2030-12-05 on it returns 410. Use `GET /pets` instead."),
    });
    expect(document.paths["/pets"].get).not.toHaveProperty("deprecated");
    const { responses } = document.paths["/pets/{petId}"].get;
    for (const status of [200, 403, 404, 410]) {
      for (const name of ["Deprecation", "Sunset", "Link", "Cache-Control"])
        expect(responses[status].headers[name].required).toBe(true);
    }
    expect(Object.keys(responses[401].headers)).toEqual(["WWW-Authenticate", "x-amzn-RequestId"]);
  });

  it("needs a name for the schema of every body, so that generated clients have one", () => {
    expect(() => bodyContent(z.object({}))).toThrow("needs a name: add it to openapi/schemas.ts");
  });

  it("has nothing that JSON would lose", () => {
    expect(openApiDocument()).toStrictEqual(document);
  });
});
