import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Stands in for `@aws-sdk/credential-provider-node` in the bundles. Lambda hands a function its role's
 * credentials in the environment, so files, profiles, SSO and instance metadata need not be looked for.
 */
export const defaultProvider = fromEnv;
