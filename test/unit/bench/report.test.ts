import { readFile } from "node:fs/promises";
import { describe, expect, it } from "@jest/globals";
import { insert, table } from "../../../bench/report.ts";

describe("insert", () => {
  it("replaces what is between the two markers, and nothing else", () => {
    const document = "before\n<!-- load -->\n\nold\n\n<!-- /load -->\nafter\n";
    const updated = insert(document, "load", "new");
    expect(updated).toBe("before\n<!-- load -->\n\nnew\n\n<!-- /load -->\nafter\n");
    expect(insert(updated, "load", "new")).toBe(updated);
  });

  it.each(["", "<!-- load -->\n", "\n<!-- /load -->"])(
    "rejects a document without both markers: %j",
    (text) => {
      expect(() => insert(text, "load", "new")).toThrow("no markers for load");
    },
  );

  it.each(["machine", "cold", "warm", "load", "footprint", "growth"])(
    "finds the markers of %s",
    async (name) => {
      const document = await readFile(new URL("../../../docs/benchmarks.md", import.meta.url), "utf8");
      expect(insert(document, name, "new")).toContain(`<!-- ${name} -->\n\nnew\n\n<!-- /${name} -->`);
    },
  );
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
