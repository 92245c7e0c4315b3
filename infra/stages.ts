/** Every difference between the deployments. */
export interface Stage {
  /** part of the stack's name and of every key's prefix, lower-case letters */
  name: string;
  /** keep the data when the stack is deleted, and refuse to delete it by accident */
  keepData: boolean;
  /** how long API Gateway remembers that a key is good, in seconds; so long a revoked key still works */
  authorizerCacheSeconds: number;
}

const staging: Stage = { name: "staging", keepData: false, authorizerCacheSeconds: 60 };
const production: Stage = { name: "production", keepData: true, authorizerCacheSeconds: 60 };

/** The deployments in AWS. */
export const stages: readonly Stage[] = [staging, production];

/** What `npm start` serves: the template of staging, with keys of its own. */
export const local: Stage = { ...staging, name: "local" };
export const localStack = stackName(staging.name);

/** The name of a stage's stack. */
export function stackName(stage: string): string {
  return `animal-store-${stage}`;
}
