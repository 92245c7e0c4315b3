import { devNull } from "node:os";

/** How to call a DynamoDB-compatible server. */
export interface StoreAddress {
  endpoint: string;
  /** the secret of an embedded store; undefined for any other server */
  accessKeyId?: string;
}

/**
 * Returns the environment variables that make the AWS clients of a function call a DynamoDB-compatible server.
 *
 * @param store without an access key ID, the clients get the region and the credentials of this process. An embedded store
 *   accepts any region and secret
 */
export function awsEnvironment({ endpoint, accessKeyId }: StoreAddress): Record<string, string> {
  const own: NodeJS.ProcessEnv = accessKeyId ? {} : process.env;
  return {
    AWS_REGION: own.AWS_REGION || "us-east-1",
    AWS_ACCESS_KEY_ID: accessKeyId || own.AWS_ACCESS_KEY_ID || "local",
    AWS_SECRET_ACCESS_KEY: own.AWS_SECRET_ACCESS_KEY || "local",
    AWS_SESSION_TOKEN: own.AWS_SESSION_TOKEN || "",
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    // As in Lambda, where the user's files do not exist. A setting in them can even make a client call AWS.
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
  };
}

/** Makes the AWS clients of this process call a server, whatever the user's AWS settings are. @returns awsEnvironment */
export function useStore(store: StoreAddress): Record<string, string> {
  const environment = awsEnvironment(store);
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, environment);
  return environment;
}
