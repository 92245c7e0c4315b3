import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";

const launcher = fileURLToPath(new URL("../../../local/launch.sh", import.meta.url));

it("runs Node.js in its place, with its arguments and the settings that save memory", () => {
  const { execArgv, ppid, env } = JSON.parse(
    execFileSync("sh", [launcher, "-p", "JSON.stringify(process)", "a  b"], { encoding: "utf8" }),
  );
  expect(execArgv).toEqual(["--max-semi-space-size=2", "-p", "JSON.stringify(process)"]);
  expect(ppid).toBe(process.pid);
  expect(env).toMatchObject({
    MALLOC_ARENA_MAX: "2",
    NODE_COMPILE_CACHE: expect.stringMatching(/local\/\.\.\/node_modules\/\.cache\/node$/),
  });
});
