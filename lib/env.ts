/**
 * Reads a variable of the environment, which infra/ sets.
 *
 * @throws Error when it is not set
 */
export function env(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
