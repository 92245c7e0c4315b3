import { expect, it } from "@jest/globals";
import { program } from "../../../cli/keys.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { runInProcess } from "../../support/run-in-process.ts";

const keys = (args: string[], environment?: Record<string, string>) =>
  runInProcess(program, "keys", args, environment);

it.each([
  [["issue", "--stage", "local"], "required option '--owner <owner>' not specified"],
  [["issue", "--stage", "local", "--expires-in", "0d"], "Use a duration longer than zero."],
  [["list", "--stage", "local", "--yes"], "unknown option '--yes'"],
  [["list"], "required option '--stage <stage>' not specified"],
  [["list", "--stage", "Anna"], "A personal stage needs a name of"],
])("explains wrong usage with exit code 2: %j", async (args, message) => {
  expect(await keys(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

const key = generateApiKey("local");

it.each([
  [["show", key]],
  [["revoke", `Bearer ${key}`]],
  [["revoke", key.slice(0, -3)]],
  [["issue", "--owner", key]],
  [["issue", "--owner", "x", "--scopes", key]],
  [["list", `--${key}`]],
  [["list", key]],
  [[key]],
  [["list", "--stage", key]],
])("never repeats an API key that was typed in the wrong place: %#", async (args) => {
  const { code, stdout, stderr } = await keys([...args, "--stage", "local"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).not.toContain(key.slice(10, 30));
});

const list = ["list", "--stage", "staging"];
const id = "key_0000000000000000";
const production = ["--stage", "production"];
const confirmation = "in production? Add --yes to confirm it without a terminal.";

it.each<[string, string[], Record<string, string>]>([
  ["No AWS region is set: set AWS_REGION, or a region in your AWS profile.", list, {}],
  [
    "There are no AWS credentials (Could not load credentials from any providers): sign in (for example `aws sso login`), or check AWS_PROFILE.",
    list,
    { AWS_REGION: "eu-west-1", AWS_PROFILE: "nope" },
  ],
  [`Issue a key for Acme ${confirmation}`, ["issue", "--owner", "Acme", ...production], {}],
  [`Revoke ${id} ${confirmation}`, ["revoke", id, ...production], {}],
  [`Rotate ${id} ${confirmation}`, ["rotate", id, ...production], {}],
])("without a network, says: %s", async (message, args, environment) => {
  expect(await keys(args, environment)).toEqual({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
});
