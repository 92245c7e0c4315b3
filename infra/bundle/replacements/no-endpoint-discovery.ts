/**
 * Replaces `@aws-sdk/middleware-endpoint-discovery` in the bundles. DynamoDB supports endpoint discovery for old
 * clients only; no command of the functions uses it.
 */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => false,
  configFileSelector: () => false,
  default: false,
};

/** Returns the client's configuration unchanged. */
export const resolveEndpointDiscoveryConfig = <T>(config: T): T => config;
