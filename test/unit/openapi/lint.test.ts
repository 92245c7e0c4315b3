import { describe, expect, it } from "@jest/globals";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { openApiText } from "../../../openapi/document.ts";

const config = await createConfig({
  extends: ["recommended-strict"],
  rules: {
    "operation-description": "error",
    "operation-singular-tag": "error",
    "tag-description": "error",
    "no-invalid-parameter-examples": "error",
    "no-invalid-schema-examples": "error",
    "no-schema-type-mismatch": "error",
    "no-required-schema-properties-undefined": "error",
    // The document has a placeholder for the address of a deployment.
    "no-server-example.com": "off",
  },
});

/** The rules that a document breaks. */
async function broken(document: string): Promise<string[]> {
  const problems = await lintFromString({ source: document, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

// biome-ignore lint/suspicious/noExplicitAny: the cases reach into any part of the document
async function brokenBy(change: (document: any) => void): Promise<string> {
  const document = JSON.parse(openApiText());
  change(document);
  return (await broken(JSON.stringify(document))).join("\n");
}

describe("the linter", () => {
  it("finds nothing in the document", async () => {
    expect(await broken(openApiText())).toEqual([]);
  });

  it.each<[string, Parameters<typeof brokenBy>[0]]>([
    ["struct", ({ paths }) => (paths["/pets"].get.method = "get")],
    ["struct", ({ components }) => (components.schemas.Pet.type = "record")],
    ["no-unresolved-refs", ({ components }) => delete components.schemas.Pet],
    ["no-unused-components", ({ components }) => (components.schemas.Unused = { type: "string" })],
    ["operation-operationId", ({ paths }) => delete paths["/pets"].get.operationId],
    ["operation-operationId-unique", ({ paths }) => (paths["/pets"].get.operationId = "createPet")],
    ["operation-summary", ({ paths }) => delete paths["/pets"].get.summary],
    ["operation-description", ({ paths }) => delete paths["/pets"].get.description],
    ["operation-4xx-response", ({ paths }) => (paths["/pets"].get.responses = {})],
    ["path-parameters-defined", ({ paths }) => (paths["/pets/{petId}"].get.parameters = [])],
    ["security-defined", ({ components }) => delete components.securitySchemes],
    [
      "no-invalid-media-type-examples",
      ({ paths }) => (paths["/pets"].post.requestBody.content["application/json"].example = { name: 1 }),
    ],
    ["no-invalid-schema-examples", ({ components }) => (components.schemas.Pet.example = { id: "1" })],
    ["no-invalid-parameter-examples", ({ paths }) => (paths["/pets"].get.parameters[0].example = "ten")],
  ])("notices a breach of %s", async (rule, change) => {
    expect(await brokenBy(change)).toContain(`${rule}: `);
  });
});
