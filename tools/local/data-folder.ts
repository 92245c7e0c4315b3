import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StoreAddress } from "../emulator/store/aws-environment.ts";

/** Returns the folder of everything that the local service keeps: DATA_DIR, or `.animal-store` in the working directory. */
const dataFolder = (env: NodeJS.ProcessEnv) => env.DATA_DIR || ".animal-store";

// Data of the store, template and bundles, bundles of `npm run dev`, own key, and tables.
const parts = ["dynamodb", "assembly", "functions", "api-key", "tables.json"] as const;

/** Returns the path of a part. */
export const dataPath = (env: NodeJS.ProcessEnv, part: (typeof parts)[number]) => join(dataFolder(env), part);

/** Where the operators' commands find the tables while the service runs: the store, and the outputs that name them. */
interface LocalTables extends StoreAddress {
  outputs: Record<string, string>;
}

/** The first line of the folder's .gitignore, by which the next start knows the folder. */
const MARK = "# The data of The Animal Store on this machine.";

/**
 * Creates the folder, with a .gitignore that hides it from git and the linter in a checkout. From now on, only the owner
 * can read the new files of this process.
 *
 * @throws Error in one line when it cannot be created, or has the files of somebody else
 */
export async function makeDataFolder(env: NodeJS.ProcessEnv): Promise<void> {
  const folder = dataFolder(env);
  process.umask(0o077);
  try {
    await mkdir(folder, { recursive: true });
    const names = await readdir(folder);
    const file = join(folder, ".gitignore");
    const text = await readFile(file, "utf8").catch(() => "");
    // `cp -r folder/*` leaves the mark out, and a loss of power can empty it. LevelDB makes both of these files.
    const hasData = ["LOCK", "CURRENT"].some((name) => existsSync(join(folder, "dynamodb", name)));
    const isOurs = hasData && names.every((name) => [".gitignore", ...parts].includes(name));
    const isNew = names.every((name) => name === ".gitignore"); // or the disk was full
    if (!text && (isNew || isOurs)) await writeFile(file, `${MARK}\n*\n`);
    else if (!text.startsWith(MARK)) throw new Error("it has other files.");
  } catch (error) {
    throw new Error(`The data folder ${folder} cannot be used, see DATA_DIR: ${(error as Error).message}`);
  }
}

/** Which folder it is: a copy of it gets another number. */
const inode = (env: NodeJS.ProcessEnv) => statSync(dataFolder(env)).ino;

/** Writes what readTables returns while this process runs. */
export const writeTables = (env: NodeJS.ProcessEnv, tables: LocalTables) =>
  writeFile(dataPath(env, "tables.json"), JSON.stringify({ ...tables, inode: inode(env) }));

/** @throws Error in one line if the folder has no service, or its store does not respond */
export async function readTables(env: NodeJS.ProcessEnv): Promise<LocalTables> {
  try {
    const tables = JSON.parse(await readFile(dataPath(env, "tables.json"), "utf8"));
    if (tables.inode !== inode(env)) throw new Error("A copy names the tables of the copied folder.");
    // The service leaves the file. Its embedded store ends with it.
    await fetch(tables.endpoint, { signal: AbortSignal.timeout(5000) });
    return tables;
  } catch {
    throw new Error(`There is no local service in ${dataFolder(env)}: run \`npm start\`, or set DATA_DIR.`);
  }
}
