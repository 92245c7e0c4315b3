import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { insert } from "../../../bench/report.ts";

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
