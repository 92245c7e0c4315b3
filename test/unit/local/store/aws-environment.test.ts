import { afterEach, expect, it } from "@jest/globals";
import { setAwsEnvironment } from "../../../../local/store/aws-environment.ts";

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

const endpoint = "http://127.0.0.1:1";
const own = { AWS_REGION: "eu-north-1", AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "mine" };
const none = { AWS_REGION: "", AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" };
const local = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };

it.each([
  ["the user's credentials for a given store", own, undefined, own],
  ["any credentials, if the user has none", none, undefined, local],
  ["the secret of an embedded store", own, "secret", { ...own, AWS_ACCESS_KEY_ID: "secret" }],
])("sets %s, without a profile or FIPS", (_what, user, accessKeyId, expected) => {
  Object.assign(process.env, user, { AWS_PROFILE: "mine", AWS_USE_FIPS_ENDPOINT: "true" });
  const set = { ...expected, AWS_USE_FIPS_ENDPOINT: "false", AWS_ENDPOINT_URL_DYNAMODB: endpoint };
  expect(setAwsEnvironment({ endpoint, accessKeyId })).toEqual(set);
  expect(process.env).toMatchObject(set);
  expect(process.env).not.toHaveProperty("AWS_PROFILE");
});
