/** How to call a DynamoDB-compatible server. */
export interface StoreAddress {
  endpoint: string;
  /** the secret of an embedded store; undefined for any other server */
  accessKeyId?: string | undefined;
}

/**
 * Returns the environment variables that make the AWS clients of a function call a DynamoDB-compatible
 * server. An embedded store accepts any region and signature; a profile of the user would replace both.
 *
 * @param store without an access key ID, the clients get the access key of this process
 */
export function awsEnvironment({ endpoint, accessKeyId }: StoreAddress): Record<string, string> {
  return {
    AWS_REGION: process.env.AWS_REGION || "us-east-1",
    AWS_ACCESS_KEY_ID: accessKeyId ?? (process.env.AWS_ACCESS_KEY_ID || "local"),
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY || "local",
    AWS_PROFILE: "",
    AWS_USE_FIPS_ENDPOINT: "false",
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  };
}

/** Returns the configuration with which a client in this process calls the same server. */
export function clientConfig(store: StoreAddress) {
  const { AWS_REGION: region = "", ...keys } = awsEnvironment(store);
  const { AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "" } = keys;
  const credentials = { accessKeyId, secretAccessKey };
  return { endpoint: store.endpoint, region, credentials, useFipsEndpoint: false };
}
