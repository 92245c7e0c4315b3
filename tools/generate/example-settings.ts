import type { AccountSettings } from "../../infra/account-settings.ts";
import { deployedStages } from "../../infra/stages.ts";

/** What infra/account-settings.ts leaves out, as someone who deploys from GitHub would fill it in. */
export const exampleSettings = {
  githubRepository: {
    owner: "acme",
    name: "animal-store",
    ownerId: 1234567,
    id: 7654321,
    accounts: Object.fromEntries(deployedStages.map(({ name }, n) => [name, String(n + 1).repeat(12)])),
  },
  budget: { monthlyUsd: 50, email: "ops@example.com" },
} satisfies AccountSettings;
