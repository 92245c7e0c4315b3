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
