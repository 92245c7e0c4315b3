import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import { stackName } from "./names.ts";

/** Every difference between the stages. */
export interface Stage {
  /** part of the stack's name and of every key's prefix: lower-case letters, then also digits */
  name: string;
  /**
   * the tables, the logs and the roles of old versions outlive the stack, and the tables can be restored to any second of the
   * last 35 days
   */
  retainData: boolean;
  /**
   * prevents deletion of the stack and, with `retainData`, of its tables; `-c deletionProtection=off` turns it off for a
   * first creation
   */
  deletionProtection: boolean;
  /** how long API Gateway caches whether a key is valid, in seconds; a revoked key can keep working that long */
  authorizerCacheSeconds: number;
  /** the limit of each method for all clients together, requests a second and at once; the whole stage has none */
  throttling: { rate: number; burst: number };
  /** The limits of AWS WAF for one IP address and for one API key. Without them there is no web ACL. */
  wafRateLimits?: { perIpPerMinute: number; perKeyPerMinute: number };
  /**
   * With INFO, Lambda logs the duration, the start-up time and the memory of every invocation. That is about 0.75 KB per
   * invocation; docs/deployment.md has the cost.
   */
  systemLogLevel: "INFO" | "WARN";
  /** how long log lines are kept, one of the times that CloudWatch Logs offers */
  logRetentionDays: RetentionDays;
  /** who gets the pages, best a service that wakes people, and the notices; docs/deployment.md says how to confirm */
  alarmEmails?: { page: string; notice: string };
  /**
   * A custom domain name, mapped at API_VERSION. The certificate must be in the stage's region, and the zone in its account:
   * for the zone of another account, delegate a subdomain. `disableDefaultEndpoint` locks out the clients that still use the
   * default endpoint: deploy the name first, and disable it when it has no clients.
   */
  domain?: {
    name: string;
    certificateArn: string;
    hostedZoneId: string;
    hostedZoneName: string;
    disableDefaultEndpoint: boolean;
  };
}

const staging: Stage = {
  name: "staging",
  retainData: false,
  deletionProtection: false,
  authorizerCacheSeconds: 60,
  throttling: { rate: 50, burst: 100 },
  systemLogLevel: "INFO",
  logRetentionDays: 30,
};

export const production: Stage = {
  name: "production",
  retainData: true,
  deletionProtection: true,
  authorizerCacheSeconds: 60,
  throttling: { rate: 1000, burst: 2000 },
  wafRateLimits: { perIpPerMinute: 6_000, perKeyPerMinute: 18_000 },
  systemLogLevel: "WARN",
  logRetentionDays: 30,
};

/** The stages in AWS. */
export const deployedStages: readonly Stage[] = [staging, production];

/** The local service: it has the settings of staging, and keys of its own. */
export const localStage: Stage = { ...staging, name: "local" };
/** The stack whose template the local service serves. */
export const servedStackName = stackName(staging.name);

/** Every stage, with the local one. */
export const allStages: readonly Stage[] = [localStage, ...deployedStages];
