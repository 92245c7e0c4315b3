import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";

const root = new URL("../../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");
const register = read("docs/aws-assumptions.md");
const suite = globSync("test/contract/*.test.ts", { cwd: root }).map(read).join();

/** The entries of the lists, each in one line, from the first statement to the open questions. */
const [, lists = ""] = /^(?=## )(.*?)^## Open questions$/ms.exec(register) ?? [];
const entries = [...lists.matchAll(/^- (.+(\n {2}.+)*)/gm)].map(([, entry = ""]) =>
  entry.replaceAll("\n  ", " "),
);

const LEVELS = "verified|documented|reported|assumed";
const form = new RegExp(`^(.+?)\\. \\*\\*(${LEVELS}):\\*\\* (.+?)\\. (Check|Suite): (.+)\\.$`);
const statements = entries.flatMap((entry) => {
  const [, behaviour = "", level = "", source = "", by = "", check = ""] = form.exec(entry) ?? [];
  return level ? [{ level, behaviour, source, check, bySuite: by === "Suite" }] : [];
});

it("has statements", () => {
  expect(statements).not.toEqual([]);
  expect(entries).toHaveLength(statements.length);
});

/** What the source of a statement names, by its level. */
const sources: Record<string, RegExp> = {
  verified: /^(Recorded|Azul)/,
  documented: /\b(guide|reference|knowledge center|changelog|docs|REST API)\b|^the same/,
  reported: /https:/,
  assumed: /./,
};
/** A section with commands, a command, or what checks the statement above. */
const checks =
  /\]\(((incidents|deployment)\.md)?#|^(failures|first deployment|first hour|limits)\b|`(aws|curl|filter|gh|head|npm|npx|stats) |^the same$/;

it.each(statements)("has the source of its level, and a check that exists: $behaviour", (statement) => {
  expect(statement.source).toMatch(sources[statement.level] ?? "no level");
  if (!statement.bySuite) return expect(statement.check).toMatch(checks);
  for (const [title] of statement.check.matchAll(/"(.+?)"/g)) expect(suite).toContain(title);
});
