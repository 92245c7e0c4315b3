import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles. Lambda puts the credentials of a function's role into
 * the environment, so the bundles need no code for files, profiles, SSO and instance metadata.
 */
export const defaultProvider = fromEnv;
