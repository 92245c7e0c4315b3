import { entryName } from "../../infra/names.ts";

/**
 * Starts an instance of a function, with the tables of the environment.
 *
 * @param name its id, such as `createPet` or `authorize`
 * @param endpoint of the store that it calls; by default the one of the tests
 * @returns its handler
 * @throws Error if it has no warm-up
 */
export async function startFunction(name: string, endpoint?: string) {
  const { AWS_ENDPOINT_URL_DYNAMODB: own = "" } = process.env;
  // A client reads it when it makes its first call, for which `ready` waits.
  process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint ?? own;
  const { handler, ready } = await import(`../../functions/${entryName(name)}.ts?${crypto.randomUUID()}`);
  if (!ready) throw new Error(`functions/${entryName(name)}.ts does not export the warm-up as \`ready\`.`);
  await ready;
  process.env.AWS_ENDPOINT_URL_DYNAMODB = own;
  return handler;
}
