import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { chartAndTable, insert } from "../../../bench/report.ts";

it.each(["<!-- local -->\n", "\n<!-- /local -->"])(
  "insert rejects a document with one marker: %j",
  (text) => {
    expect(() => insert(text, "local", "new")).toThrow("no markers for local");
  },
);

it("chartAndTable has written the cold starts of the document", () => {
  const document = readFileSync(new URL("../../../docs/benchmarks.md", import.meta.url), "utf8");
  const [, title = ""] = /^ {2}title "(.*)"$/m.exec(document) ?? [];
  const [, lines = ""] = /<!-- cold -->[\s\S]*?\n(\|[\s\S]*?)\n\n<!--/.exec(document) ?? [];
  const [head = [], , ...rows] = lines.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(insert(document, "cold", chartAndTable(title, head, rows))).toBe(document);
});
