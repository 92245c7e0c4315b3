import { expect, it } from "@jest/globals";
import { program } from "../../../cli/keys-program.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { runInProcess } from "../../support/run-in-process.ts";

const keys = (args: string[], environment?: Record<string, string>) =>
  runInProcess(program, "keys", args, environment);

const local = ["--stage", "local"];

it.each([
  [["issue", ...local], "required option '--owner <owner>' not specified"],
  [["issue", "--owner", "x", "--expires-in", "0d", ...local], "Use a duration longer than zero."],
  [["show", ...local], "missing required argument 'keyId'"],
  [["delete", ...local], "unknown command 'delete'"],
  [["list", "--yes", ...local], "unknown option '--yes'"],
  [["list"], "required option '--stage <stage>' not specified"],
])("explains wrong usage with exit code 2: %j", async (args, message) => {
  const { code, stderr } = await keys(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

const key = generateApiKey("local");

it.each([
  [["show", key]],
  [["rotate", key]],
  [["revoke", `Bearer ${key}`]],
  [["revoke", key.slice(0, -3)]],
  [["issue", "--owner", key]],
  [["issue", "--owner", "x", "--scopes", key]],
  [["list", `--${key}`]],
  [["list", key]],
  [[key]],
  [["list", "--stage", key]],
])("never repeats an API key that was typed in the wrong place: %#", async (args) => {
  const { code, stdout, stderr } = await keys([...args, ...local]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).not.toContain(key.slice(10, 30));
});

it("describes itself, every command and every option, in lines of at most 80 characters", async () => {
  const names = program.commands.map((command) => command.name());
  for (const command of [[], ...names.map((name) => [name])]) {
    const { code, stdout, stderr } = await keys([...command, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: npm run keys -- /);
    expect(stdout).not.toMatch(/^.{81}/m);
  }
  const described = program.commands.flatMap((command) => [
    command.description(),
    ...command.options.map(({ description }) => description),
  ]);
  for (const text of described) expect(text).toMatch(/^[a-z]/);
});

const list = ["list", "--stage", "staging"];
const inProduction = (...command: string[]) => [...command, "--stage", "production"];
const id = "key_0000000000000000";
const confirmation = "in production? Add --yes to confirm it without a terminal.";
const region = { AWS_REGION: "eu-west-1" };

it.each<[string, string[], Record<string, string>]>([
  ["No AWS region is set: set AWS_REGION, or a region in your AWS profile.", list, {}],
  [
    "There are no AWS credentials (Could not load credentials from any providers): sign in (for example `aws sso login`) or set AWS_PROFILE.",
    list,
    region,
  ],
  ["There is no AWS profile nope: check AWS_PROFILE.", list, { ...region, AWS_PROFILE: "nope" }],
  [`Issue a key for Acme ${confirmation}`, inProduction("issue", "--owner", "Acme"), {}],
  [`Revoke ${id} ${confirmation}`, inProduction("revoke", id), {}],
  [`Rotate ${id} ${confirmation}`, inProduction("rotate", id), {}],
])("without a network, says: %s", async (message, args, environment) => {
  expect(await keys(args, environment)).toEqual({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
});
