import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { chartAndTable, insert, table } from "../../../bench/report.ts";

describe("insert", () => {
  it("replaces what is between the two markers, and nothing else", () => {
    const document = "before\n<!-- local -->\n\nold\n\n<!-- /local -->\nafter\n";
    const updated = insert(document, "local", "new");
    expect(updated).toBe("before\n<!-- local -->\n\nnew\n\n<!-- /local -->\nafter\n");
    expect(insert(updated, "local", "new")).toBe(updated);
  });

  it.each(["<!-- local -->\n", "\n<!-- /local -->"])("rejects a document with one marker: %j", (text) => {
    expect(() => insert(text, "local", "new")).toThrow("no markers for local");
  });
});

describe("table", () => {
  it("aligns the first column to the left and numbers to the right", () => {
    expect(
      table(
        ["", "ms"],
        [
          ["get", "1"],
          ["create", "12.5"],
        ],
      ),
    ).toBe(["|        |   ms |", "| ------ | ---: |", "| get    |    1 |", "| create | 12.5 |"].join("\n"));
  });
});

describe("chartAndTable", () => {
  it("charts the last column from 0", () => {
    const rows = [
      ["get", "1.5"],
      ["a, b", "1,012.5"],
    ];
    expect(chartAndTable("Start, ms", ["", "ms"], rows)).toBe(
      [
        "```mermaid",
        "xychart-beta horizontal",
        '  title "Start, ms"',
        '  x-axis ["get", "a, b"]',
        "  y-axis 0 --> 1013",
        "  bar [1.5, 1012.5]",
        "```",
        "",
        table(["", "ms"], rows),
      ].join("\n"),
    );
  });

  it("has written the cold starts of the document", () => {
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
});
