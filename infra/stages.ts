import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import { stackName } from "./names.ts";

/** The days for which CloudWatch Logs can keep a log, without "for ever", 9999. */
type LogRetentionDays = Exclude<
  `${RetentionDays}` extends `${infer Days extends number}` ? Days : never,
  9999
>;

/** Every difference between the stages. */
export interface Stage {
  /** part of the stack's name and of every key's prefix: lower-case letters, then also digits */
  name: string;
  /** the tables and the logs outlive the stack, and the roles of old versions outlive an update */
  retainData: boolean;
  /** the tables of pets and keys can be restored to any second of the last 35 days */
  pointInTimeRecovery: boolean;
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
  /** how long log lines are kept */
  logRetentionDays: LogRetentionDays;
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
  pointInTimeRecovery: false,
  deletionProtection: false,
  authorizerCacheSeconds: 60,
  throttling: { rate: 50, burst: 100 },
  systemLogLevel: "INFO",
  logRetentionDays: 30,
};

export const production: Stage = {
  name: "production",
  retainData: true,
  pointInTimeRecovery: true,
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

/** The stages that have a name here. */
export const namedStages: readonly Stage[] = [localStage, ...deployedStages];
