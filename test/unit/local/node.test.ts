import { execFileSync } from "node:child_process";
import { expect, it } from "@jest/globals";

it("runs Node.js in its place, with the settings that save memory", () => {
  const script = "const { ppid, execArgv, env } = process; JSON.stringify({ ppid, execArgv, env })";
  const output = execFileSync("sh", ["local/node.sh", "-p", script], { encoding: "utf8" });
  expect(JSON.parse(output)).toMatchObject({
    ppid: process.pid,
    execArgv: ["--max-semi-space-size=2", "-p", script],
    env: { MALLOC_ARENA_MAX: "2", NODE_COMPILE_CACHE: "local/../node_modules/.cache/node" },
  });
});
