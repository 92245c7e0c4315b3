import { expect, it } from "@jest/globals";
import { keysProgram } from "../../cli/keys.ts";
import { generateApiKey } from "../../lib/api-key.ts";
import { runHere } from "../support/run-here.ts";

const bare = (args: string[]) => runHere(keysProgram, "keys", args);

it.each([
  [["issue", "--stage", "local"], "required option '--owner <owner>' not specified"],
  [["issue", "--stage", "local", "--expires-in", "0d"], "Use a duration longer than zero."],
  [["list", "--stage", "local", "--yes"], "unknown option '--yes'"],
  [["list"], "required option '--stage <stage>' not specified"],
  [["list", "--stage", "Anna"], "A personal stage needs a name of"],
])("explains wrong usage with exit code 2: %j", async (args, message) => {
  expect(await bare(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

it("names a stage that can be misspelled, and the one of this machine", async () => {
  const stderr = expect.stringMatching(/stage lokal; .* `local`: No AWS region .*\n$/);
  expect(await bare(["list", "--stage", "lokal"])).toEqual({ code: 1, stdout: "", stderr });
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
  const stderr = expect.not.stringContaining(key.slice(10, 30));
  expect(await bare([...args, "--stage", "local"])).toEqual({ code: 2, stdout: "", stderr });
});
