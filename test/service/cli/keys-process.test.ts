import { expect, it } from "@jest/globals";
import { keysCli } from "../../support/keys-cli.ts";

// Jest's own Error class hides the codes of network errors from the AWS SDK, so these run as processes.
const NOBODY = "http://127.0.0.1:1";
const environment = {
  AWS_REGION: "eu-west-1",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_ENDPOINT_URL_CLOUDFORMATION: NOBODY,
};

it("says that AWS cannot be reached", async () => {
  expect(await keysCli(["list", "--stage", "staging"], environment)).toEqual({
    code: 1,
    stdout: "",
    stderr: "keys: AWS cannot be reached in eu-west-1 (ECONNREFUSED): check the network and the region.\n",
  });
});

it("succeeds with exit code 0, and prints the result on standard output", async () => {
  const { code, stdout, stderr } = await keysCli(["--help"]);
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining("Usage: npm run keys -- "), ""]);
});
