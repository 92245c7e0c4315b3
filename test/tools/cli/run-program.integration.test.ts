import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "@jest/globals";
import { runNode } from "../../support/run-node.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A folder without node_modules, into which `npm run generate` cannot write. */
const cwd = mkdtempSync(join(tmpdir(), "animal-store-commands-"));
for (const file of ["package.json", "tools/node.sh"]) cpSync(join(root, file), join(cwd, file));
mkdirSync(join(cwd, "openapi.json"));
afterAll(() => rmSync(cwd, { recursive: true }));

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const programs = Object.values<string>(scripts).flatMap((script) => /\S+\.ts/.exec(script)?.[0] ?? []);

it.each([...new Set(programs), "tools/cli/copy.ts"])("%s reports wrong usage in two lines", async (file) => {
  const stderr = expect.stringMatching(/^error: .*\n\(.*Add --help for .*\)\n$/);
  expect(await runNode([join(root, file), "--foo"], { cwd })).toEqual({ code: 2, stdout: "", stderr });
});

it("fails in one line when nobody gets what it prints", async () => {
  const child = spawn(process.execPath, [join(root, "tools/cli/keys.ts"), "--help"]);
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect({ stderr, code }).toEqual({ stderr: "keys: write EPIPE\n", code: 1 });
});

it.each<[script: string, line: RegExp]>([
  ["npm run -s start", /^Run npm ci first, .*\n$/],
  ["npm run -s test", /^Run npm ci first, .*\n$/],
  ['node "$ROOT/tools/generate/generate.ts"', /^generate: EISDIR: .*\n$/],
])("says in one line why it fails: %s", (script, line) => {
  const env = {
    ...process.env,
    ROOT: root,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`, // this Node, whatever runs npm
    npm_config_userconfig: "/dev/null",
  };
  const { status, stderr } = spawnSync("sh", ["-c", script], { cwd, env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(line) });
});
