import { readFile } from "node:fs/promises";
import { describe, expect, it } from "@jest/globals";
import { errors } from "../../lib/errors.ts";
import { operations } from "../../lib/operations.ts";
import { openApiDocument, openApiText } from "../../openapi/document.ts";

const document = JSON.parse(openApiText());

describe("openapi.json", () => {
  it("is what the operations say", async () => {
    const written = await readFile(new URL("../../openapi.json", import.meta.url), "utf8");
    if (written !== openApiText()) throw new Error("openapi.json is not current: run `npm run openapi`.");
  });
});

describe("the document", () => {
  it("has every operation, with every status it can answer", () => {
    for (const { id, method, path, success, errors: own } of operations) {
      const operation = document.paths[path][method.toLowerCase()];
      expect(operation.operationId).toBe(id);
      const statuses = [success.status, ...own.map((code) => errors[code].status)];
      expect(Object.keys(operation.responses).map(Number)).toEqual(
        [...statuses, 401, 403, 429, 500, 503, 504].sort((a, b) => a - b),
      );
    }
  });

  it("shows values as they are written, whatever reads them", () => {
    const [limit, status] = document.paths["/pets"].get.parameters;
    expect(limit).toMatchObject({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    });
    expect(status.schema).toEqual({ $ref: "#/components/schemas/PetStatus" });
    const { NewPet, Pet } = document.components.schemas;
    expect(NewPet.required).toEqual(["name", "categoryId"]);
    expect(NewPet.properties).toEqual({
      name: { type: "string", minLength: 1, maxLength: 256 },
      categoryId: { type: "integer", format: "int64" },
      status: { $ref: "#/components/schemas/PetStatus", default: "available" },
    });
    expect(Pet.required).toEqual(["id", "name", "categoryId", "status"]);
  });

  it("closes the set of error codes", () => {
    expect(document.components.schemas.Error.properties.code.enum).toEqual(Object.keys(errors));
  });

  it("marks what is deprecated, and only that", () => {
    expect(document.paths["/pets/{petId}"].get.deprecated).toBe(true);
    expect(document.paths["/pets"].get).not.toHaveProperty("deprecated");
    const { responses } = document.paths["/pets/{petId}"].get;
    for (const status of [200, 403, 404, 410]) {
      for (const name of ["Deprecation", "Sunset", "Link"])
        expect(responses[status].headers[name].required).toBe(true);
    }
    expect(responses[401].headers).not.toHaveProperty("Deprecation");
  });

  it("holds nothing that JSON would lose", () => {
    expect(openApiDocument()).toEqual(document);
  });
});
