import { createRequire } from "node:module";
import { App } from "aws-cdk-lib";
import { AccountStack } from "../../infra/account-stack.ts";
import type { Repository } from "../../infra/repository.ts";
import { accountStack, stages } from "../../infra/stages.ts";

const featureFlags = createRequire(import.meta.url)("aws-cdk-lib/recommended-feature-flags.json");

/** A repository as someone who deploys from GitHub would fill it in. */
export const exampleRepository: Repository = {
  owner: "acme",
  name: "animal-store",
  ownerId: 1234567,
  id: 7654321,
  providerExists: false,
  diffRole: true,
};

/** Builds the account stack for a repository, which infra/repository.ts leaves undefined. */
export function accountStackFor(repository: Repository | undefined): AccountStack {
  return new AccountStack(new App({ context: featureFlags }), accountStack, { stages, repository });
}
