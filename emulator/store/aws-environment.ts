import type { LocalStore } from "../../local/data-folder.ts";

/**
 * Sets the variables in process.env that make the AWS clients of this process call a DynamoDB-compatible server. An
 * embedded store accepts any region and signature; a profile of the user would replace both.
 *
 * @returns the same variables, for the functions
 */
export function setAwsEnvironment({ endpoint, accessKeyId }: LocalStore): Record<string, string> {
  const environment = {
    AWS_REGION: process.env.AWS_REGION || "us-east-1",
    AWS_ACCESS_KEY_ID: accessKeyId ?? (process.env.AWS_ACCESS_KEY_ID || "local"),
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY || "local",
    AWS_USE_FIPS_ENDPOINT: "false",
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  };
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, environment);
  return environment;
}
