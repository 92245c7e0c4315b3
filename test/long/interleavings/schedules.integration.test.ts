import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";
import { mutations } from "./mutations.ts";

const run = fileURLToPath(new URL("../run.ts", import.meta.url));

// In a process of its own, because it replaces the clock and the random numbers.
it("follows the contract in thousands of schedules, and notices every mutation", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [run, "interleavings", "--quick"], {
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const held = [...stdout.matchAll(/^(?!Noticed).*: (\d+) schedules$/gm)].map(([, count]) => Number(count));
  expect(held.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1000);
  const noticed = [...stdout.matchAll(/^Noticed after \d+ schedules: (.*)$/gm)].map(([, name]) => name);
  expect(noticed).toEqual(Object.keys(mutations));
});
