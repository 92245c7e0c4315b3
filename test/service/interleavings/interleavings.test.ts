import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";

const run = fileURLToPath(new URL("../../long/run.ts", import.meta.url));

// In a process of its own, because it replaces the clock and the random numbers.
it("follows the contract in thousands of schedules, and detects every break", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [run, "interleavings", "--quick"], {
    // The coverage of the broken stores would count as that of the real ones.
    env: { ...process.env, NODE_OPTIONS: "", NODE_V8_COVERAGE: "" },
  });
  expect(stdout).toMatch(/^Two to four callers: 3000 random schedules$/m);
  expect(stdout).toMatch(/^Walks while pets are added: 600 random schedules$/m);
  expect(stdout.match(/^Two callers, every order with .*: \d{3,} schedules$/gm)).toHaveLength(3);
  expect(stdout.match(/^Noticed after \d+ schedules: .+$/gm)).toHaveLength(12);
});
