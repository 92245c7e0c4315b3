import { globSync, readFileSync } from "node:fs";
import { parse, type parseExpression } from "@babel/parser";
import { expect, it } from "@jest/globals";
import { isSafe } from "redos-detector";
import { authorizationPattern } from "../../lib/api-key.ts";

const root = new URL("../../", import.meta.url);
const files = globSync(["lib/**/*.ts", "functions/*.ts"], { cwd: root });

/** Returns the regular expressions that a file writes as literals, and how many it builds at run time. */
function patternsOf(file: string) {
  const literals: RegExp[] = [];
  let built = 0;
  const visit = (value: unknown) => {
    if (!(value instanceof Object)) return;
    const node = value as ReturnType<typeof parseExpression>;
    if (node.type === "RegExpLiteral") literals.push(new RegExp(node.pattern, node.flags));
    if (node.type === "NewExpression" && "name" in node.callee && node.callee.name === "RegExp") built++;
    Object.values(node).forEach(visit);
  };
  visit(parse(readFileSync(new URL(file, root), "utf8"), { sourceType: "module", plugins: ["typescript"] }));
  return { literals, built };
}

const patterns = files.map((file) => ({ file, ...patternsOf(file) }));

// A safe pattern takes time in proportion to the length of any text.
it.each(patterns.flatMap(({ file, literals }) => literals.map((pattern) => [file, pattern] as const)))(
  "%s: %s backtracks by a bounded number of steps",
  (_file, pattern) => expect(isSafe(pattern)).toMatchObject({ safe: true, error: null }),
);

it("the pattern of the Authorization header backtracks by a bounded number of steps", () => {
  expect(isSafe(new RegExp(authorizationPattern)).safe).toBe(true);
});

it("no other pattern is built at run time", () => {
  const building = patterns.filter(({ built }) => built > 0);
  expect(building.map(({ file }) => file)).toEqual(["lib/api-key.ts"]);
});
