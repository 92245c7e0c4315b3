import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "@jest/globals";
import { stop } from "esbuild";
import { insert } from "../../../docs/report.ts";
import { shared } from "../../support/shared.ts";
import { coldStart } from "./measure.ts";

const document = readFileSync(new URL("../../../docs/benchmarks.md", import.meta.url), "utf8");

afterAll(stop); // the process of esbuild

// The benchmark fails if a function does not respond with a success, and insert if the document has no markers for it.
it("does each step of the benchmark", async () => {
  const table = await coldStart(shared.assembly, 1);
  expect(insert(document, "cold", table)).toContain(`<!-- cold -->\n\n${table}\n\n<!-- /cold -->`);
  expect(table).toMatch(/\d \|$/m);
  expect(table).not.toContain("NaN");
});

it.each(["<!-- machine -->\n", "\n<!-- /machine -->"])("needs both markers, not only %j", (text) => {
  expect(insert(document, "machine", "new")).toContain("new");
  expect(() => insert(text, "machine", "new")).toThrow("no markers for machine");
});
