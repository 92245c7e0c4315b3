import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { type Operation, scopeOf } from "../lib/operation.ts";
import { operations } from "../lib/operations.ts";
import { codeBlocks } from "./support/code-blocks.ts";
import { send } from "./support/http.ts";
import { shared } from "./support/shared.ts";

// Every block of commands, JSON and TypeScript in README.md is run, or compared with what it shows. Its table of operations is compared, too.

const root = new URL("../", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const blocks = (language: string) => codeBlocks(readme, language);

const env = {
  ...process.env,
  BASE_URL: shared.baseUrl,
  API_KEY: shared.key,
  DATA_DIR: shared.dataFolder,
  NODE_OPTIONS: "",
};
/** Runs a program. @returns what it wrote to standard output @throws Error when it fails */
function run(program: string, args: string[], { cwd = root, input = "" } = {}): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { cwd, env, input, encoding: "utf8" });
  const reason = error ? `it could not run in ${cwd}, ${error}` : stdout + stderr;
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${reason}`);
  return stdout;
}

/** Nothing runs that would not end, would replace node_modules, or calls AWS: test/long/deploy runs that with an emulator. */
const STAND_INS = `set -eo pipefail
  trap 'echo "This command failed: $BASH_COMMAND" >&2' ERR
  npm() { case "$*" in ci | start | test | *" staging "*) ;; *) command npm "$@" ;; esac; }
  npx() { [[ $1 == cdk ]] || command npx "$@"; }
  curl() { command curl --silent "$@"; }`;

it("has commands that work, and JSON as the service returns it", async () => {
  const script = [STAND_INS, ...blocks("sh")].join("\necho prompt\n"); // in one shell, as a reader does
  const output = run("bash", ["-c", script], { input: `${shared.baseUrl}\n${shared.key}\n` });
  expect(output).toMatch(/^link: <[^>]+cursor=[^>]+>; rel="next"\r$/im);
  expect(output).not.toMatch(/"status":(?!410)\d/); // an error, except that a deprecated operation has ended
  expect(output).not.toMatch(/.prompt$/m); // every output ends with a new line
  const [pet, error] = blocks("json");
  const [created = ""] = output.match(/^\{.*\}$/m) ?? [];
  expect(JSON.parse(pet ?? "")).toEqual({ ...JSON.parse(created), id: expect.any(Number) });
  const response = await send(shared.baseUrl, { path: "/pets?status=lost", key: shared.key });
  expect(JSON.parse(error ?? "")).toEqual(JSON.parse(response.text));
});

it("has a client that runs beside examples/client.ts", () => {
  const [client = ""] = blocks("ts");
  const args = ["--input-type=module-typescript", "--eval", client];
  expect(run(process.execPath, args, { cwd: new URL("examples/", root) })).toContain("Rex");
});

it("has a row for each operation, with its scope and its success", () => {
  const rows = readme.match(/^\| \[`[A-Z]+ .*/gm) ?? [];
  const cellsOf = (row: string) => row.split("|").map((cell) => cell.trim());
  const found = rows.map(cellsOf).map(([, operation = "", scope, success = ""]) => {
    const [name, isDeprecated = ""] = operation.replaceAll(/[[`]|\]\([^)]*\)/g, "").split(", ");
    return { name, isDeprecated, scope, status: success.slice(0, 3) };
  });
  const expected = operations.map((operation: Operation) => ({
    name: `${operation.method} ${operation.path}`,
    isDeprecated: operation.deprecation ? "deprecated" : "",
    scope: `\`${scopeOf(operation)}\``,
    status: String(operation.success.status),
  }));
  expect(found).toEqual(expected);
});
