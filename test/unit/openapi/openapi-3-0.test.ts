import { expect, it } from "@jest/globals";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { openApiDocument } from "../../../openapi/document.ts";
import { openApi30Document, openApi30Text } from "../../../openapi/openapi-3-0.ts";

/** A document in the words of OpenAPI 3.1, with one example per schema. */
function upgrade(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(upgrade);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, upgrade(member)]));
  const { allOf, examples, ...rest } = members as Record<string, unknown> & { allOf?: [{ $ref: string }] };
  return {
    ...rest,
    ...(allOf && { $ref: allOf[0].$ref }),
    ...(Array.isArray(examples) && { example: examples[0] }),
  };
}

it("describes the same API as openapi.json", () => {
  const { info, ...document } = openApiDocument();
  const { identifier: _, ...license } = info.license;
  const expected = upgrade({ ...document, info: { ...info, license }, openapi: "3.0.4" });
  expect(upgrade(openApi30Document())).toEqual(expected);
});

it("has no members next to a reference, which OpenAPI 3.0 ignores, and allOf only to add some", () => {
  const siblings: string[] = [];
  JSON.parse(openApi30Text(), (_name, value: { $ref?: string; allOf?: object } | null) => {
    if (value?.allOf) expect(Object.keys(value).length).toBeGreaterThan(1);
    if (value?.$ref) siblings.push(...Object.keys(value).filter((name) => name !== "$ref"));
    return value;
  });
  expect(siblings).toEqual([]);
});

it("is valid OpenAPI 3.0", async () => {
  const config = await createConfig({ extends: ["spec"] });
  const source = openApi30Text();
  expect(await lintFromString({ source, absoluteRef: "openapi-3.0.json", config })).toEqual([]);
});
