import { createRequire } from "node:module";
import { App } from "aws-cdk-lib";
import { AnimalStoreStack } from "./stack.ts";
import { stackName, stages } from "./stages.ts";

// Set here and not in cdk.json, so that every way to synthesize gives the same templates.
const featureFlags = createRequire(import.meta.url)("aws-cdk-lib/recommended-feature-flags.json");

const app = new App({ context: featureFlags });
for (const stage of stages) {
  new AnimalStoreStack(app, stackName(stage.name), stage);
}
