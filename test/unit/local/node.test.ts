import { execFileSync } from "node:child_process";
import { expect, it } from "@jest/globals";

it("runs Node.js in its place, so that signals reach it, and passes its arguments on", () => {
  const script = "const { ppid, execArgv } = process; JSON.stringify([ppid, execArgv.slice(-2)])";
  const output = execFileSync("sh", ["local/node.sh", "-p", script], { encoding: "utf8" });
  expect(JSON.parse(output)).toEqual([process.pid, ["-p", script]]);
});
