import { deployedStages, type Stage } from "../../infra/stages.ts";
import { exampleSettings } from "../../tools/generate/example-settings.ts";
import { shared } from "./shared.ts";

/** A stage as an owner could fill it in: with every option, and with numbers that infra/stages.ts does not have. */
const fillIn = (stage: Stage): Stage => ({
  ...stage,
  authorizerCacheSeconds: 17,
  throttling: { rate: 700, burst: 1100 },
  wafRateLimits: { perIpPerMinute: 1300, perKeyPerMinute: 1900 },
  systemLogLevel: stage.systemLogLevel === "INFO" ? "WARN" : "INFO",
  logRetentionDays: 7,
  alarmEmails: { page: "on-call@example.com", notice: "team@example.com" },
  domain: {
    name: `${stage.name}.example.com`,
    certificateArn: "arn:aws:acm:us-east-1:111111111111:certificate/1",
    hostedZoneId: "Z1",
    hostedZoneName: "example.com",
    disableDefaultEndpoint: stage.retainData,
  },
});

/** Everything that an owner can fill in. */
export const filledIn = { ...exampleSettings, stages: deployedStages.map(fillIn) };

/** Each stage twice: with the settings of infra/, and filled in. */
export const everyStage = [
  ...deployedStages.map((stage) => ({ ...stage, settings: "as committed", assembly: shared.assembly })),
  ...filledIn.stages.map((stage) => ({
    ...stage,
    deletionProtection: false, // as synthesize-filled-in.ts says
    settings: "filled in",
    assembly: shared.filledInAssembly,
  })),
];
