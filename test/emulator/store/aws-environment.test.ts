import { expect, it, jest } from "@jest/globals";
import { awsEnvironment } from "../../../emulator/store/aws-environment.ts";

const endpoint = "http://127.0.0.1:1";
const own = { AWS_REGION: "eu-north-1", AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "mine" };

it.each([
  [own, undefined, own],
  [own, "secret", { ...own, AWS_ACCESS_KEY_ID: "secret" }],
  [{}, undefined, { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" }],
])("is, of %j and the secret %s, %j, without a profile or FIPS", (user, accessKeyId, expected) => {
  jest.replaceProperty(process, "env", { ...user, AWS_PROFILE: "mine", AWS_USE_FIPS_ENDPOINT: "true" });
  const fixed = { AWS_PROFILE: "", AWS_USE_FIPS_ENDPOINT: "false", AWS_ENDPOINT_URL_DYNAMODB: endpoint };
  expect(awsEnvironment({ endpoint, accessKeyId })).toEqual({ ...expected, ...fixed });
  jest.restoreAllMocks();
});
