import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StoreAddress } from "../emulator/store/aws-environment.ts";

/** Returns the folder of everything that the local service keeps: DATA_DIR, or `.animal-store` in the working directory. */
export const dataFolder = (env: NodeJS.ProcessEnv) => env.DATA_DIR || ".animal-store";

/** The embedded store's data. */
export const storeFolder = (env: NodeJS.ProcessEnv) => join(dataFolder(env), "dynamodb");
/** The synthesized templates and the bundled functions. */
export const assemblyFolder = (env: NodeJS.ProcessEnv) => join(dataFolder(env), "assembly");
/** The functions as `npm run dev` bundles them. */
export const functionsFolder = (env: NodeJS.ProcessEnv) => join(dataFolder(env), "functions");
/** The local service's own key. */
export const keyFile = (env: NodeJS.ProcessEnv) => join(dataFolder(env), "api-key");
const tablesFile = (env: NodeJS.ProcessEnv) => join(dataFolder(env), "tables.json");

/**
 * An empty file that marks a folder as a data folder. The name ends with the version of the folder's format, so that the
 * file is complete as soon as it exists. A change of the format, or of the tables' keys, needs the next number.
 */
export const formatFile = "animal-store-format-3";

/** Where the operators' commands find the tables while the service runs. */
export interface LocalTables extends StoreAddress {
  apiKeysTable: string;
}

/**
 * Creates the folder, with a .gitignore that hides it from git and the linter in a checkout.
 *
 * @throws Error in one line when it cannot be created, or when this version of the service did not create it
 */
export async function makeDataFolder(env: NodeJS.ProcessEnv): Promise<void> {
  const folder = dataFolder(env);
  try {
    // Not recursive: Node never returns from a recursive mkdir in /proc.
    await mkdir(folder, { mode: 0o700 }).catch(unlessExists);
    const names = await readdir(folder);
    if (names.length > 0 && !names.includes(formatFile))
      throw new Error(
        `The folder ${folder} is not empty, and has no file ${formatFile}: set DATA_DIR to a new or empty folder.`,
      );
    const options = { flag: "wx", mode: 0o600 };
    await writeFile(join(folder, formatFile), "", options).catch(unlessExists);
    await writeFile(join(folder, ".gitignore"), "*\n", options).catch(unlessExists);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code ? new Error(`The data folder ${folder} cannot be used, see DATA_DIR: ${message}`) : error;
  }
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/** Writes a file that only its owner can read. It replaces an existing file or link, and never writes through a link. */
export async function writeSecret(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, text, { flag: "wx", mode: 0o600 });
  await rename(draft, file);
}

/** Writes what readTables returns. */
export function writeTables(env: NodeJS.ProcessEnv, { endpoint, accessKeyId, apiKeysTable }: LocalTables) {
  return writeSecret(tablesFile(env), JSON.stringify({ endpoint, accessKeyId, apiKeysTable }));
}

/** @throws Error in one line if the service never ran with this folder, or if the folder cannot be read */
export async function readTables(env: NodeJS.ProcessEnv): Promise<LocalTables> {
  const content = await lstat(join(dataFolder(env), formatFile))
    .then(() => readFile(tablesFile(env), "utf8"))
    .catch(({ code, message }: NodeJS.ErrnoException) => {
      throw new Error(
        code === "ENOENT"
          ? `There is no local service in ${dataFolder(env)}: start it with \`npm start\`, or set DATA_DIR.`
          : `The data folder ${dataFolder(env)} cannot be read: ${message}`,
      );
    });
  try {
    const { endpoint, accessKeyId, apiKeysTable } = JSON.parse(content);
    if (typeof endpoint === "string" && typeof apiKeysTable === "string")
      return { endpoint, accessKeyId, apiKeysTable };
  } catch {
    // not JSON, or not an object
  }
  throw new Error(`${tablesFile(env)} is damaged: start the service again.`);
}
