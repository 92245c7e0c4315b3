/** Every difference between the deployments. */
export interface Stage {
  /** part of the stack's name and of every key's prefix, lower-case letters */
  name: string;
  /** restore to any second of the last 35 days, and neither delete nor replace data by accident */
  keepData: boolean;
  /** how long API Gateway remembers whether a key is good, in seconds; so long a revoked key still works */
  authorizerCacheSeconds: number;
  /** what all clients together may ask for: requests a second, and at once */
  throttling: { rate: number; burst: number };
  /** what one address may ask for in 5 minutes, before a firewall refuses it; without it there is no firewall */
  firewallLimit?: number;
  /**
   * Instances that each function has to itself, and may not exceed. Off at first: a new account's quota
   * (often 10) is too small for any reservation. docs/operations.md says when to turn it on.
   */
  reservedConcurrency?: { operation: number; authorizer: number };
  /**
   * Over how many partitions of the index each status is spread. One takes about 1,000 creations of up to 1 KB a second; raise
   * `read` first and deploy, then `write`. Each one more costs every page one more Query. Never lower `read`.
   */
  statusShards: { read: number; write: number };
  /** shift new code to 10 % of the calls for 5 minutes, and roll back on alarms */
  canary: boolean;
  /** serve under a name of your own, mapped at /v1; the certificate must be in the stage's region */
  domain?: { name: string; certificateArn: string; hostedZoneId: string; hostedZoneName: string };
}

const staging: Stage = {
  name: "staging",
  keepData: false,
  authorizerCacheSeconds: 60,
  throttling: { rate: 50, burst: 100 },
  statusShards: { read: 1, write: 1 },
  canary: false,
};

const production: Stage = {
  name: "production",
  keepData: true,
  authorizerCacheSeconds: 60,
  throttling: { rate: 1000, burst: 2000 },
  firewallLimit: 30_000,
  statusShards: { read: 1, write: 1 },
  canary: true,
};

/** The deployments in AWS. */
export const stages: readonly Stage[] = [staging, production];

/** What `npm start` serves: the template of staging, with keys of its own. */
export const local: Stage = { ...staging, name: "local" };
export const localStack = stackName(staging.name);

/** The name of a stage's stack. */
export function stackName(stage: string): string {
  return `animal-store-${stage}`;
}
