import { servedStackName } from "../../infra/stages.ts";
import { useStore } from "../../tools/emulator/store/aws-environment.ts";
import { createTables } from "../../tools/emulator/store/create-tables.ts";
import { type Store, startStore } from "../../tools/emulator/store/store.ts";
import { readStack } from "../../tools/emulator/template/template.ts";
import { share } from "./shared.ts";

/**
 * Starts an embedded store with the tables of staging, and sets the environment that its template gives the functions.
 *
 * @param assembly folder of the synthesized app
 */
export async function startTestStore(assembly: string): Promise<Store> {
  const store = await startStore();
  const { tables, functions } = readStack(assembly, servedStackName);
  useStore(store);
  Object.assign(process.env, ...functions.map(({ environment }) => environment));
  share({ assembly });
  await createTables(tables);
  return store;
}
