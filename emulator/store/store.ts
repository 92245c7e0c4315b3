import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { ClassicLevel } from "classic-level";
import type { ThreadOptions } from "./worker.ts";

export interface Store {
  /** URL of its DynamoDB API */
  endpoint: string;
  /** a secret: the store serves only requests with it */
  accessKeyId: string;
  close(): Promise<void>;
}

/** Receives one line about a store. */
export type Report = (message: string) => void;

/**
 * Starts a DynamoDB-compatible server on 127.0.0.1 and a free port, in a thread of its own.
 *
 * @param path folder of the data, created when missing; without a path the data is kept in memory
 * @param options.onDamage receives what is damaged
 * @param options.onFailure receives why the thread ended before `close`, for example because the disk is full
 * @throws Error in one line when the folder is broken or not writable, or another process has it open
 */
export async function startStore(
  path?: string,
  { onDamage = console.error, onFailure = console.error }: { onDamage?: Report; onFailure?: Report } = {},
): Promise<Store> {
  const accessKeyId = randomBytes(20).toString("hex");
  let closing = false;
  try {
    const damage = path && (await checkData(path));
    if (damage) onDamage(`The data in ${path} is damaged. Items can be missing: ${damage}`);
    const workerData: ThreadOptions = { path, accessKeyId };
    const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData });
    const ended = once(worker, "exit").then(() => "its thread ended", reasonOf);
    const [port] = await once(worker, "message");
    void ended.then((reason) => {
      if (!closing) onFailure(`The embedded store failed: ${reason}`);
    });
    return {
      endpoint: `http://127.0.0.1:${port}`,
      accessKeyId,
      close: async () => {
        closing = true;
        worker.postMessage("close");
        await ended;
      },
    };
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/**
 * Locks a folder with an empty database inside it. The operating system releases the lock when the process ends.
 *
 * @throws Error in one line when another process has locked the folder, or when it is broken or not writable
 */
export async function lockFolder(path: string): Promise<ClassicLevel> {
  // Every file that this process makes from now on is its owner's. LevelDB has no option for the mode of its files.
  process.umask(0o077);
  const lock = new ClassicLevel(join(path, "in-use"));
  try {
    await lock.open();
    return lock;
  } catch (error) {
    const { cause } = error as Error & { cause?: NodeJS.ErrnoException };
    if (cause?.code !== "LEVEL_LOCKED") throw cannotOpen(path, error);
    throw new Error(`The data folder ${path} is in use by another process: set DATA_DIR to another folder.`);
  }
}

const cannotOpen = (path: string | undefined, error: unknown) =>
  new Error(`The data folder ${path} cannot be opened: ${reasonOf(error)}`);

/** LevelDB's own message, where there is one. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error };
  return cause?.message ?? message;
}

/**
 * Opens and closes the data, because dynalite does not say why it cannot open them.
 *
 * @returns what LevelDB left out because it is damaged
 */
async function checkData(path: string): Promise<string | undefined> {
  const data = new ClassicLevel(path);
  await data.open();
  await data.close();
  return /dropping \d+ bytes; .*/.exec(await readFile(join(path, "LOG"), "utf8"))?.[0];
}
