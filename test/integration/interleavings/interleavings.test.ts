import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";
import { creationBreaks, walkBreaks } from "../../long/interleavings/breaks.ts";
import { smallPlans } from "../../long/interleavings/creations.ts";

const run = fileURLToPath(new URL("../../long/run.ts", import.meta.url));

// In a process of its own, because it replaces the clock and the random numbers.
it("follows the contract in thousands of schedules, and notices every break", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [run, "interleavings", "--quick"], {
    // The coverage of the broken stores would count as that of the real ones.
    env: { ...process.env, NODE_OPTIONS: "", NODE_V8_COVERAGE: "" },
  });
  const found = (pattern: RegExp) => [...stdout.matchAll(pattern)].map(([, what]) => what);
  expect(found(/^Every order of (.*): \d+ schedules$/gm)).toHaveLength(smallPlans.length);
  expect(found(/^(.*): \d+ random schedules$/gm)).toEqual([
    "Two to four requests",
    "Walks while pets are added",
  ]);
  expect(found(/^Refuted after \d+ schedules: (.*)$/gm)).toHaveLength(1);
  expect(found(/^Noticed after \d+ schedules: (.*)$/gm)).toEqual(
    Object.keys({ ...creationBreaks, ...walkBreaks }),
  );
});
