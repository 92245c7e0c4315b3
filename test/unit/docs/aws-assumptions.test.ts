import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { details, openQuestions } from "../../integration/contract/open-questions.ts";

const root = new URL("../../../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");
const register = read("docs/aws-assumptions.md");
const suite = globSync("test/integration/contract/*.test.ts", { cwd: root }).map(read).join();

const LEVELS = "verified|documented|reported|assumed";
const line = new RegExp(`^- \\*\\*(${LEVELS}):\\*\\* (.*?)\\. Source: (.*?)\\. Check: (.*)$`, "gm");
const statements = [...register.matchAll(line)].map(
  ([, level = "", behaviour = "", source = "", check = ""]) => ({
    level,
    behaviour,
    source,
    check,
  }),
);

it("has a row for each open question of the suite, with a method and a path", () => {
  expect(openQuestions.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(details)));
  expect(openQuestions.filter(({ request }) => !request.path?.startsWith("/"))).toEqual([]);
});

describe("a statement", () => {
  it("has a level, a source and a check", () => {
    expect(statements).not.toEqual([]);
    expect(register.match(/^- \*\*.*$/gm)).toHaveLength(statements.length);
  });

  it("has the level that its source allows", () => {
    const sources: Record<string, RegExp> = {
      verified: /^(Recorded|Azul)/,
      documented: /\b(guide|reference|knowledge center|changelog|docs|REST API)\b|^the same/,
      reported: /https:/,
      assumed: /./,
    };
    expect(statements.filter(({ level, source }) => !sources[level]?.test(source))).toEqual([]);
  });

  it("has a check: tests of the suite, a section with commands, a command, or that of the line above", () => {
    const kinds =
      /^suite: |\]\(((incidents|deployment)\.md)?#|\]\(first-hour\.md\)|`(aws|curl|filter|gh|head|npm|npx|stats) |^the same$/;
    expect(statements.filter(({ check }) => !kinds.test(check))).toEqual([]);
  });

  it.each(statements)("is checked by something that exists: $behaviour", ({ check }) => {
    const tests = check.startsWith("suite: ") ? [...check.matchAll(/"(.+?)"/g)] : [];
    for (const [title] of tests) expect(suite).toContain(title);
  });
});
