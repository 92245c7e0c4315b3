import { expect, it } from "@jest/globals";
import { isSafe } from "redos-detector";
import { authorizationPattern } from "../../lib/api-key.ts";
import { numberPattern } from "../../lib/http/json.ts";
import { openApiText } from "../../openapi/document.ts";

const published = openApiText()
  .matchAll(/"pattern": (".*")/g)
  .map(([, text = ""]): string => JSON.parse(text));
// A safe pattern takes time in proportion to the length of any text. The other patterns of lib/ repeat one character.
it.each([authorizationPattern, numberPattern, ...published])(
  "%s backtracks by a bounded number of steps",
  (pattern) => expect(isSafe(new RegExp(pattern))).toMatchObject({ safe: true, error: null }),
);
