/**
 * Reads a variable of the environment, which infra/ sets. This file is the only reader of process.env in the functions.
 *
 * @throws Error when it is not set
 */
export function env(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
