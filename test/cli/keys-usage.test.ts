import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { generateApiKey } from "../../lib/api-key.ts";
import { keysCli } from "../support/keys-cli.ts";

const id = "key_0000000000000000";

/** Runs a command without a network and expects one line on standard error. */
async function expectError(message: string, args: string[], environment: Record<string, string> = {}) {
  expect(await keysCli(args, environment)).toEqual({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
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
    const { code, stderr } = await keysCli([...args, "--stage", "local"]);
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
    const runs = await Promise.all(misplaced.map((args) => keysCli([...args, "--stage", "local"])));
    for (const { code, stdout, stderr } of runs) {
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).not.toContain(key.slice(10, 30));
    }
  });

  it("explains that -- is missing when npm has read the options itself", async () => {
    const { code, stderr } = await keysCli(["list", "local"], { npm_config_stage: "true" });
    expect(code).toBe(2);
    expect(stderr).toContain("Put -- before them: npm run keys -- <command> --stage ...");
  });

  it("prints help", async () => {
    for (const args of [["--help"], ["issue", "--help"], ["rotate", "--help"]]) {
      const { code, stdout } = await keysCli(args);
      expect([code, stdout]).toEqual([0, expect.stringContaining("Usage: npm run keys -- ")]);
    }
  });

  it("says why it cannot read a data folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "animal-store-unreadable-"));
    const list = ["list", "--stage", "local"];
    const missing = join(folder, "missing");
    await expectError(
      `There is no local service in ${missing}: run \`npm start\` once, or set DATA_DIR.`,
      list,
      { DATA_DIR: missing },
    );
    // A folder in place of the file fails for every user, root included.
    await mkdir(join(folder, "tables.json"));
    await expectError(`The data folder ${folder} cannot be read (EISDIR).`, list, { DATA_DIR: folder });
    await rm(join(folder, "tables.json"), { recursive: true });
    await writeFile(join(folder, "tables.json"), '{"endpoint":');
    await expectError(`${join(folder, "tables.json")} is damaged: run \`npm start\` once.`, list, {
      DATA_DIR: folder,
    });
    await rm(folder, { recursive: true });
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
    await expectError(
      "AWS cannot be reached in eu-west-1 (ECONNREFUSED): check the network and the region.",
      list,
      {
        AWS_REGION: "eu-west-1",
        AWS_ACCESS_KEY_ID: "test",
        AWS_SECRET_ACCESS_KEY: "test",
        AWS_ENDPOINT_URL_CLOUDFORMATION: "http://127.0.0.1:1",
      },
    );
  });

  it.each([
    ["issue", "--name", "x"],
    ["revoke", id],
    ["rotate", id],
  ])("changes production only after a confirmation: %s", async (...change) => {
    await expectError("This changes production. Add --yes to confirm it without a terminal.", [
      ...change,
      "--stage",
      "production",
    ]);
  });
});
