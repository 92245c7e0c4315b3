import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";
import { pascalCase } from "../../infra/names.ts";
import { operations } from "../../lib/operations.ts";

// The programs of this folder replace those that tools/deploy.sh calls.
const folder = fileURLToPath(new URL("deploy", import.meta.url));
const script = readFileSync(new URL("../../tools/deploy.sh", import.meta.url), "utf8");
/** The requests of a deployment: to which function, with which right status and which arguments of curl. */
const requests = [...script.matchAll(/^ *"\$1" (\w+) (\d+) (.*)$/gm)] as string[][];

it("a deployment sends a request to every operation", () => {
  expect(requests.map(([, name]) => name).sort()).toEqual(operations.map(({ id }) => pascalCase(id)).sort());
  for (const [, , , args = ""] of requests) expect(args.replaceAll("$url", "")).not.toMatch(/[$`\\]/); // as curl gets them
});

const REQUESTS = requests
  .map(([, name, status, args = ""]) => `${name} ${status} ${args.replaceAll(/["']/g, "")}`)
  .join("\n")
  .replaceAll("$url", "https://x/v1");
const LAST = requests.at(-1)?.[1];
const wrongIf = (condition: string, status: number, right = 0) => ({
  ANSWER: `[[ ${condition} ]] && echo ${status} || echo $right`,
  [`right_${LAST}`]: right, // answers before
});
const [after, before] = ["18\n17\n", "17\n16\n"];
it.concurrent.each<[what: string, environment: object, serves: string, status: number, prints: RegExp]>([
  ["right answers", {}, after, 0, /^(\w+: \d+ right answers, then 0 wrong ones\.\n)+Deployed\.$/m],
  ["a new operation", wrongIf("$name$n == $LAST[1-7]", 404), after, 0, /^(\w+: .* 0 wrong .*\n)+Depl/m],
  ["two wrong answers", wrongIf("$n$time == @(2|4|*40)", 503), after, 0, /^Deployed\.$/m], // and one in the minute
  ["a few of many", wrongIf("$name$n == $LAST[246]", 503, 900), after, 0, /^Deployed\.$/m],
  ["three wrong answers", wrongIf("$name$n == $LAST[246]", 503), before, 1, /^Rolled back: \w+ got wrong/m],
  ["a wrong function", wrongIf("$name == $LAST && $serving -eq 18", 500), before, 1, /^\w+: .* 3 wrong/m],
  ["a wrong authorizer", wrongIf("$serving -eq 18", 401), before, 1, /^Rolled back: \w+ got wrong \w+\.$/m],
  ["no response", { ANSWER: "[ $serving = 18 ] || echo $right" }, before, 1, /^Rolled back: \w+ got wrong/m],
  ["wrong answers at the end", wrongIf("$name$n == $LAST?[0-9]", 500), before, 1, /^Rolled back: \w+ got/m],
  ["answers that stay wrong", wrongIf("$n -gt 2", 503), before, 1, /^Rolled back: .* still wrong\.$/m],
  ["an operation that was wrong", wrongIf("$name == $LAST", 500), after, 1, /^Not rolled back: \w+ had/m],
  ["an ended key", { ANSWER: "echo 401" }, before, 1, /^Refused with a 401: /m],
  ["a key without a scope", wrongIf("$name == $LAST", 403), before, 1, /^Refused with a 403: /m],
  ["another deployment", { STATE: "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS" }, before, 1, /^No deployment/m],
  ["an interrupt", { STOP: "INT" }, before, 1, /^Rolled back: Somebody/m],
  ["a closed terminal", { STOP: "HUP" }, before, 1, /^Rolled back: Somebody/m],
  ["outputs that cannot be read", { FAIL: "*FunctionName*" }, before, 255, /^255$/m],
  ["versions that cannot be read", { FAIL: "*Lambda::V*" }, before, 1, /^Rolled back: A move failed\.$/m],
  ["a function that cannot be moved", { FAIL: "*update*name g *" }, before, 1, /^Not every function/m],
  ["a failure of cdk", { DEPLOYED: "false" }, before, 1, /^Rolled back: cdk deploy failed\.$/m],
])("a deployment with %s ends as it should", async (_what, environment, serves, status, prints) => {
  await using state = await mkdtempDisposable(join(tmpdir(), "animal-store-deploy-"));
  const script = `bash tools/deploy.sh x; echo "$?"; for one in f g; do aws get-alias --function-name $one; done`;
  const programs = { PATH: `${folder}:${process.env.PATH}`, REQUESTS, LAST };
  const env = { TMPDIR: state.path, API_KEY: "secret", ANSWER: "echo $right", ...programs, ...environment };
  const cwd = new URL("../../", import.meta.url);
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd, env });
  expect(stdout).toMatch(prints);
  expect(stdout.endsWith(`${status}\n${serves}`)).toBe(true);
  expect(existsSync(join(state.path, "flushed"))).toBe(/^(Rolled back|Not every)/m.test(stdout));
});
