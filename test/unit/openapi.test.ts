import { expect, it } from "@jest/globals";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { openApiDocument, openApiText } from "../../openapi/document.ts";

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

/** The rules that a document breaks. */
async function broken(document: string): Promise<string[]> {
  const problems = await lintFromString({ source: document, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

it("finds nothing in the document, but a planted fault", async () => {
  expect(await broken(openApiText())).toEqual([]);
  const { components, ...document } = openApiDocument();
  const { securitySchemes: _, ...faulty } = components;
  const found = await broken(JSON.stringify({ ...document, components: faulty }));
  expect(found).toContain("security-defined: There is no `apiKey` security scheme defined.");
});
