import { devNull } from "node:os";
import { expect, it, jest } from "@jest/globals";
import { awsEnvironment } from "../../../emulator/store/aws-environment.ts";

const endpoint = "http://127.0.0.1:1";
const own = {
  AWS_REGION: "eu-north-1",
  AWS_ACCESS_KEY_ID: "AKIA",
  AWS_SECRET_ACCESS_KEY: "mine",
  AWS_SESSION_TOKEN: "token",
};
const none = {
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "local",
  AWS_SECRET_ACCESS_KEY: "local",
  AWS_SESSION_TOKEN: "",
};

it.each([
  [own, undefined, own],
  [own, "secret", { ...none, AWS_ACCESS_KEY_ID: "secret" }],
  [{}, undefined, none],
])("is, of %j and the secret %s, %j, without any other setting or file", (user, accessKeyId, expected) => {
  jest.replaceProperty(process, "env", { ...user, AWS_PROFILE: "mine", AWS_USE_FIPS_ENDPOINT: "true" });
  const files = { AWS_CONFIG_FILE: devNull, AWS_SHARED_CREDENTIALS_FILE: devNull };
  expect(awsEnvironment({ endpoint, accessKeyId })).toEqual({
    ...expected,
    ...files,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  });
  jest.restoreAllMocks();
});
