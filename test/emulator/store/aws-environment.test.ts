import { devNull } from "node:os";
import { expect, it, jest } from "@jest/globals";
import { awsEnvironment } from "../../../emulator/store/aws-environment.ts";

const endpoint = "http://127.0.0.1:1";
const settings = (region: string, id: string, key: string, token: string) => ({
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: id,
  AWS_SECRET_ACCESS_KEY: key,
  AWS_SESSION_TOKEN: token,
});
const own = settings("eu-north-1", "AKIA", "mine", "token");

it.each([
  [own, undefined, own],
  [own, "secret", settings("us-east-1", "secret", "local", "")],
  [{}, undefined, settings("us-east-1", "local", "local", "")],
])("is, of %j and the secret %s, %j, without any other setting or file", (user, accessKeyId, expected) => {
  jest.replaceProperty(process, "env", { ...user, AWS_PROFILE: "mine", AWS_USE_FIPS_ENDPOINT: "true" });
  const files = { AWS_CONFIG_FILE: devNull, AWS_SHARED_CREDENTIALS_FILE: devNull };
  const all = { ...expected, ...files, AWS_ENDPOINT_URL_DYNAMODB: endpoint };
  expect(awsEnvironment({ endpoint, accessKeyId })).toEqual(all);
  jest.restoreAllMocks();
});
