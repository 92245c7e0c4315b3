import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { coldStart } from "../../../bench/cold/cold.ts";
import { insert } from "../../../bench/report.ts";
import { warmInvocation } from "../../../bench/warm.ts";

const assembly = process.env.TEST_ASSEMBLY ?? "";

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

// A part fails if a function does not respond with a success.
it.each([
  ["cold", coldStart],
  ["warm", warmInvocation],
])("does each step of the part %s", async (_name, benchmark) => {
  for (const table of Object.values(await benchmark({ quick: true, assembly }))) {
    const rows = [...table.matchAll(/^\| \w.*\|$/gm)].map(([row]) => row);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).not.toContain("NaN");
  }
});
