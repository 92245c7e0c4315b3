import { describe, expect, it } from "@jest/globals";
import { program } from "../../../cli/keys-program.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { runInProcess } from "../../support/run-in-process.ts";

const id = "key_0000000000000000";

const keys = (args: string[], environment?: Record<string, string>) =>
  runInProcess(program, "keys", args, environment);

/** Runs a command without a network and expects one line on standard error. */
async function expectError(message: string, args: string[], environment: Record<string, string> = {}) {
  expect(await keys(args, environment)).toEqual({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
}

describe("npm run keys", () => {
  it.each([
    [["issue"], "required option '--name <name>' not specified"],
    [["issue", "--name", "x", "--expires", "36526d"], "Use at most 100 years (36525d)."],
    [["show"], "missing required argument 'keyId'"],
    [["show", "key_0"], "Use a key ID, such as key_94a9db21d2a2b24b."],
    [["delete"], "unknown command 'delete'"],
    [["list", "--all"], "unknown option '--all'"],
  ])("explains wrong usage with exit code 2: %j", async (args, message) => {
    const { code, stderr } = await keys([...args, "--stage", "local"]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("never repeats an API key that was typed in the wrong place", async () => {
    const key = generateApiKey("local");
    const misplaced = [
      ["show", key],
      ["revoke", `Bearer ${key}`],
      ["revoke", key.slice(0, -3)],
      ["issue", "--name", key],
      ["issue", "--name", "x", "--scopes", key],
      ["list", `--${key}`],
      ["list", key],
      [key],
      ["list", "--stage", key],
    ];
    for (const args of misplaced) {
      const { code, stdout, stderr } = await keys([...args, "--stage", "local"]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).not.toContain(key.slice(10, 30));
    }
  });

  it.each(["", "issue", "list", "show", "rotate", "revoke"])("describes itself: %s --help", async (name) => {
    const { code, stdout, stderr } = await keys([name, "--help"].filter(Boolean));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatchSnapshot();
  });

  it("says what is missing to reach a deployed stage", async () => {
    const list = ["list", "--stage", "staging"];
    await expectError("No AWS region is set: set AWS_REGION, or a region in your AWS profile.", list);
    await expectError(
      "There are no AWS credentials: sign in (for example `aws sso login`) or set AWS_PROFILE.",
      list,
      { AWS_REGION: "eu-west-1" },
    );
    await expectError("There is no AWS profile nope: check AWS_PROFILE.", list, {
      AWS_REGION: "eu-west-1",
      AWS_PROFILE: "nope",
    });
  });

  it.each([
    ["Issue a key for Acme", ["issue", "--name", "Acme"]],
    [`Revoke ${id}`, ["revoke", id]],
    [`Rotate ${id}`, ["rotate", id]],
  ])("changes production only after a confirmation: %s", async (question, change) => {
    await expectError(`${question} in production? Add --yes to confirm it without a terminal.`, [
      ...change,
      "--stage",
      "production",
    ]);
  });
});
