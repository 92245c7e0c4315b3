import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";

const root = new URL("../../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");
const register = read("docs/aws-assumptions.md");
const suite = globSync("test/contract/*.test.ts", { cwd: root }).map(read).join();

const LEVELS = "verified|documented|reported|assumed";
const row = new RegExp(`^\\| (\\S.*?) +\\| \\*\\*(${LEVELS}):\\*\\* (.*?) +\\| (.*?) +\\|$`, "gm");
const statements = [...register.matchAll(row)].map(
  ([, behaviour = "", level = "", source = "", check = ""]) => ({ level, behaviour, source, check }),
);

it("has statements", () => {
  expect(statements).not.toEqual([]);
  expect(register.match(/^\|.*\| \*\*.*$/gm)).toHaveLength(statements.length);
});

/** What the source of a statement names, by its level. */
const sources: Record<string, RegExp> = {
  verified: /^(Recorded|Azul)/,
  documented: /\b(guide|reference|knowledge center|changelog|docs|REST API)\b|^the same/,
  reported: /https:/,
  assumed: /./,
};
/** Tests of the suite, a section with commands, a command, or what checks the line above. */
const checks =
  /^suite: |\]\(((incidents|deployment|first-hour)\.md)?#|\]\(first-hour\.md\)|`(aws|curl|filter|gh|head|npm|npx|stats) |^the same$/;

it.each(statements)("has the source of its level, and a check that exists: $behaviour", (statement) => {
  expect(statement.source).toMatch(sources[statement.level] ?? "no level");
  expect(statement.check).toMatch(checks);
  if (!statement.check.startsWith("suite: ")) return;
  for (const [title] of statement.check.matchAll(/"(.+?)"/g)) expect(suite).toContain(title);
});
