import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { documents, withFigures } from "../../../docs/figures.ts";

it.each(documents)("%s has the figures that `npm run generate` writes", (document) => {
  const text = readFileSync(new URL(`../../../${document}`, import.meta.url), "utf8");
  expect(withFigures(document, text)).toBe(text);
});
