import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { insert, table } from "../../../bench/report.ts";

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

  it("finds the markers of every benchmark in the document", () => {
    const run = fileURLToPath(new URL("../../../bench/run.ts", import.meta.url));
    const help = execFileSync(process.execPath, [run, "--help"], { encoding: "utf8" });
    const parts = [...help.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
    const document = readFileSync(new URL("../../../docs/benchmarks.md", import.meta.url), "utf8");
    const markers = [...document.matchAll(/^<!-- (\w+) -->$/gm)].map(([, name = ""]) => name);
    expect(markers.toSorted()).toEqual([...parts, "machine"].toSorted());
    for (const name of markers)
      expect(insert(document, name, "new")).toContain(`<!-- ${name} -->\n\nnew\n\n<!-- /${name} -->`);
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
