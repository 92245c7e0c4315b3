import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The folder of everything that the local service keeps: DATA_DIR, or `.animal-store` in the working directory. */
export const dataFolder = process.env.DATA_DIR || ".animal-store";

/** The embedded store's data. */
export const storeFolder = join(dataFolder, "dynamodb");
/** The synthesized templates and the bundled functions. */
export const assemblyFolder = join(dataFolder, "assembly");
/** The local service's own key. */
export const keyFile = join(dataFolder, "api-key");
const tablesFile = join(dataFolder, "tables.json");

/** Tells the operators' commands where the tables of the local service are, whether it runs or not. */
export interface LocalTables {
  /** the store's endpoint, or its last one */
  endpoint: string;
  /** whether it is the embedded store, which responds only while the service runs */
  embedded: boolean;
  keysTable: string;
}

/**
 * Creates the folder, with a .gitignore that hides it from git and the linter in a checkout. The umask decides who can
 * read it.
 *
 * @throws Error in one line when it cannot be created
 */
export async function makeDataFolder(): Promise<void> {
  try {
    await mkdir(dataFolder, { recursive: true });
    await writeFile(join(dataFolder, ".gitignore"), "*\n");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Node reports ENOENT on a read-only file system.
    throw new Error(
      `The data folder ${dataFolder} cannot be written (${code}): does its parent exist, and is it writable?`,
    );
  }
}

/** Writes what readTables returns. */
export async function writeTables(tables: LocalTables): Promise<void> {
  await writeFile(tablesFile, JSON.stringify(tables));
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
