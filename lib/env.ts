/** The variables that `infra/` sets. `STAGE` is the stage whose keys are valid here: of infra/stages.ts, or a personal one. */
type Variable = "STAGE" | "PETS_TABLE" | "API_KEYS_TABLE";

/**
 * Reads a variable of the environment. This file is the only reader of process.env in the functions.
 *
 * @throws Error when it is not set
 */
export function env(name: Variable): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
