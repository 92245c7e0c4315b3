import { deployedStages, type Stage } from "../../infra/stages.ts";

/** A stage with every option. No other stage has its numbers, so a test notices a number that is taken from elsewhere. */
export const everyOption: Stage = {
  ...(deployedStages.find(({ wafRateLimits }) => wafRateLimits) as Stage),
  name: "every",
  authorizerCacheSeconds: 17,
  throttling: { rate: 700, burst: 1100 },
  wafRateLimits: { perIpPerMinute: 1300, perKeyPerMinute: 1900 },
  systemLogLevel: "INFO",
  logRetentionDays: 7,
  alarmEmails: { page: "on-call@example.com", notice: "team@example.com" },
  domain: {
    name: "api.example.com",
    certificateArn: "arn:aws:acm:us-east-1:111111111111:certificate/1",
    hostedZoneId: "Z1",
    hostedZoneName: "example.com",
    disableDefaultEndpoint: true,
  },
};
