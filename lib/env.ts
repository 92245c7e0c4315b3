/**
 * Reads a variable of the environment that `infra/` sets for a function. This file is the only reader of process.env in the
 * functions.
 *
 * @throws Error when it is not set
 */
export function env(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/** Returns what Lambda sets: the number of a published version, or $LATEST; undefined elsewhere. */
export const functionVersion = () => process.env.AWS_LAMBDA_FUNCTION_VERSION;
