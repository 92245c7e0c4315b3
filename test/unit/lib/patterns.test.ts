import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { ts } from "@ts-morph/common";
import { isSafe } from "redos-detector";
import { apiKeyPattern } from "../../../lib/api-key.ts";

const root = new URL("../../../", import.meta.url);
const files = globSync(["lib/**/*.ts", "functions/*.ts"], { cwd: root });

/** Returns the regular expressions that a file writes as literals, and how many it builds at run time. */
function patternsOf(file: string) {
  const literals: string[] = [];
  let built = 0;
  const visit = (node: ts.Node) => {
    if (ts.isRegularExpressionLiteral(node)) literals.push(node.text);
    if (ts.isNewExpression(node) && node.expression.getText(source) === "RegExp") built++;
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(file, readFileSync(new URL(file, root), "utf8"), ts.ScriptTarget.Latest);
  visit(source);
  return { literals, built };
}

const parse = (literal: string) => {
  const end = literal.lastIndexOf("/");
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
};

// A safe pattern takes time in proportion to the length of any text.
it.each(files.flatMap((file) => patternsOf(file).literals.map((pattern) => [file, pattern] as const)))(
  "%s: %s backtracks by a bounded number of steps",
  (_file, pattern) => expect(isSafe(parse(pattern))).toMatchObject({ safe: true, error: null }),
);

it("the pattern of API keys, which the gateway applies too, backtracks by a bounded number of steps", () => {
  expect(isSafe(new RegExp(`^${apiKeyPattern}$`)).safe).toBe(true);
  expect(isSafe(new RegExp(`^Bearer +${apiKeyPattern}$`)).safe).toBe(true);
});

it("no other pattern is built at run time", () => {
  expect(files.filter((file) => patternsOf(file).built > 0)).toEqual(["lib/api-key.ts"]);
});

it.each([/^(a+)+$/, /\s+$/, /^\d+\d+$/])("%s would be noticed", (pattern) => {
  expect(isSafe(pattern).safe).toBe(false);
});
