import { devNull } from "node:os";

/** How to call a DynamoDB-compatible server. */
export interface StoreAddress {
  endpoint: string;
  /** the secret of an embedded store; undefined for any other server */
  accessKeyId?: string | undefined;
}

/** As in Lambda, where the user's files do not exist. A setting in them can even make a client call AWS. */
const NO_FILES = { AWS_CONFIG_FILE: devNull, AWS_SHARED_CREDENTIALS_FILE: devNull };

/**
 * Returns the environment variables that make the AWS clients of a function call a DynamoDB-compatible server.
 *
 * @param store without an access key ID, the clients get the region and the credentials of this process. An embedded store
 *   accepts any
 */
export function awsEnvironment({ endpoint, accessKeyId }: StoreAddress): Record<string, string> {
  const own: NodeJS.ProcessEnv = accessKeyId ? {} : process.env;
  return {
    AWS_REGION: own.AWS_REGION || "us-east-1",
    AWS_ACCESS_KEY_ID: accessKeyId || own.AWS_ACCESS_KEY_ID || "local",
    AWS_SECRET_ACCESS_KEY: own.AWS_SECRET_ACCESS_KEY || "local",
    AWS_SESSION_TOKEN: own.AWS_SESSION_TOKEN || "",
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    ...NO_FILES,
  };
}

/** Returns the configuration with which a client in this process calls the same server. No client then reads the files. */
export function clientConfig(store: StoreAddress) {
  Object.assign(process.env, NO_FILES);
  const { AWS_REGION: region = "", ...keys } = awsEnvironment(store);
  const { AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "" } = keys;
  const credentials = { accessKeyId, secretAccessKey, sessionToken: keys.AWS_SESSION_TOKEN || undefined };
  // The user's variables, such as AWS_USE_DUALSTACK_ENDPOINT, do not change what is set here.
  const modes = { defaultsMode: "legacy", accountIdEndpointMode: "disabled" } as const;
  const endpoint = { endpoint: store.endpoint, useFipsEndpoint: false, useDualstackEndpoint: false };
  return { region, credentials, ...endpoint, ...modes };
}
