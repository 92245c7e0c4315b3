import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { details, openQuestions } from "../../integration/contract/open-questions.ts";

const root = new URL("../../../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");
const register = read("docs/aws-assumptions.md");
const suite = globSync("test/integration/contract/*.test.ts", { cwd: root }).map(read).join();

/** The cells of a row. A `|` within a cell has a backslash. */
const cellsOf = (line: string) =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
const tables = [...register.matchAll(/^\| Behaviour .*\n.*\n((?:\|.*\n)+)/gm)];
const rows = tables.flatMap(([, lines = ""]) => lines.trim().split("\n").map(cellsOf));

/** The anchors of a document's sections, as GitHub makes them. */
const anchors = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
const sections = ["", "incidents.md", "deployment.md"].flatMap((file) =>
  anchors(file ? read(`docs/${file}`) : register).map((anchor) => `${file}#${anchor}`),
);

it("has a row for each open question of the suite, with a method and a path", () => {
  expect(openQuestions.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(details)));
  expect(openQuestions.filter(({ request }) => !request.path?.startsWith("/"))).toEqual([]);
});

describe("a statement", () => {
  const statements = rows.map(([behaviour = "", , , check = ""]) => ({ behaviour, check }));

  it("has a check: tests of the suite, a section with commands, a command, or that of the row above", () => {
    expect(statements).not.toEqual([]);
    const kinds =
      /^suite: |\]\(((incidents|deployment)\.md)?#|`(aws|curl|gh|head|npm|npx|query|why) |^the same$/;
    expect(statements.filter(({ check }) => !kinds.test(check))).toEqual([]);
  });

  it.each(statements)("is checked by something that exists: $behaviour", ({ check }) => {
    const tests = check.startsWith("suite: ") ? [...check.matchAll(/"(.+?)"/g)] : [];
    for (const [title] of tests) expect(suite).toContain(title);
    for (const [, section] of check.matchAll(/\]\((.*?)\)/g)) expect(sections).toContain(section);
  });
});
