/**
 * Stands in for `@aws-sdk/middleware-endpoint-discovery` in the bundles. DynamoDB has offered to be asked for its
 * endpoints for the sake of old clients; no command that the functions send asks.
 */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => false,
  configFileSelector: () => false,
  default: false,
};

/** Leaves the client's configuration as it is. */
export const resolveEndpointDiscoveryConfig = <T>(config: T): T => config;
