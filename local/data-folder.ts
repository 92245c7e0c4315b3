import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where the local service keeps everything: DATA_DIR, or `.animal-store` in the working directory. */
export const dataFolder = process.env.DATA_DIR || ".animal-store";

/** The embedded store's data. */
export const storeFolder = join(dataFolder, "dynamodb");
/** The local service's own key. */
export const keyFile = join(dataFolder, "api-key");
const tablesFile = join(dataFolder, "tables.json");

/** How the operators' commands find the tables of the local service, whether it runs or not. */
export interface LocalTables {
  /** where the store answers, or answered last */
  endpoint: string;
  /** whether the store is the embedded one, which answers only while the service runs */
  embedded: boolean;
  keysTable: string;
}

/**
 * Makes the folder, for its owner alone.
 *
 * @throws Error in one line when it cannot be made
 */
export async function makeDataFolder(): Promise<void> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 }).catch(({ code }: NodeJS.ErrnoException) => {
    // Node says ENOENT where the file system is read-only.
    throw new Error(
      `The data folder ${dataFolder} cannot be made (${code}): is its parent there and writable?`,
    );
  });
}

export async function writeTables(tables: LocalTables): Promise<void> {
  await writeFile(tablesFile, JSON.stringify(tables), { mode: 0o600 });
}

/** @throws Error in one line if the service never ran with this folder, or if the folder cannot be read */
export async function readTables(): Promise<LocalTables> {
  const content = await readFile(tablesFile, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(
      code === "ENOENT"
        ? `There is no local service in ${dataFolder}: run \`npm start\` once, or set DATA_DIR.`
        : `The data folder ${dataFolder} cannot be read (${code}).`,
    );
  });
  try {
    return JSON.parse(content);
  } catch {
    throw new Error(`${tablesFile} is damaged: run \`npm start\` once.`);
  }
}
