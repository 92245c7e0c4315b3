import { join } from "node:path";
import type { AccountSettings } from "../../infra/account-settings.ts";
import { deployedStages, type Stage } from "../../infra/stages.ts";
import { exampleSettings } from "../../tools/generate/example-settings.ts";
import { shared } from "./shared.ts";

// Two fixed sets of settings. A test of a relation uses them, and not what an owner has filled in.

const withoutOptions = ({ wafRateLimits, alarmEmails, domain, ...stage }: Stage): Stage => stage;

/** With every option. */
const fillIn = (stage: Stage): Stage => ({
  ...stage,
  wafRateLimits: { perIpPerMinute: 1300, perKeyPerMinute: 1900 },
  alarmEmails: { page: "on-call@example.com", notice: "team@example.com" },
  domain: {
    name: `${stage.name}.example.com`,
    certificateArn: "arn:aws:acm:us-east-1:111111111111:certificate/1",
    hostedZoneId: "Z1",
    hostedZoneName: "example.com",
    disableDefaultEndpoint: stage.retainData,
  },
});

/** Settings, and the folder of their stacks, which synthesize-variants.ts writes. */
const variant = <S extends AccountSettings & { stages: Stage[] }>(name: string, settings: S) => ({
  name,
  settings,
  assembly: join(shared.variants, name),
});
export const bare = variant("without options", { stages: deployedStages.map(withoutOptions) });
/** It has no protection against deletion, because it has -c deletionProtection=off. */
export const filledIn = variant("filled in", { ...exampleSettings, stages: deployedStages.map(fillIn) });
/** What production's credentials synthesize of it. */
export const filledInOfProduction = variant("filled in, of production", filledIn.settings);

/** Each stage twice. */
export const stageVariants = [
  ...bare.settings.stages.map((stage) => ({ ...stage, settings: bare.name, assembly: bare.assembly })),
  ...filledIn.settings.stages.map((stage) => ({
    ...stage,
    deletionProtection: false,
    settings: filledIn.name,
    assembly: filledIn.assembly,
  })),
];
