import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { openApiText } from "../../openapi/document.ts";

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
