import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ClassicLevel } from "classic-level";
import type { StoreOptions } from "./worker.ts";

/** A running embedded store. */
export interface Store {
  /** URL of its DynamoDB API */
  endpoint: string;
  /** a secret: the store serves only requests with it */
  accessKeyId: string;
  close(): Promise<void>;
}

/** Another process has the data open. */
export class DataInUse extends Error {}

const RESTART_DELAY_MS = 1000;

/**
 * Starts a DynamoDB-compatible server on 127.0.0.1 and a free port, in a thread of its own. When the server fails, for
 * example because the disk is full, the error goes to standard error and the server restarts on the same port.
 *
 * @param path folder of the data, created when missing; without a path the data is kept in memory
 * @throws DataInUse when another process has the folder open, or Error in one line when the folder is broken or not
 *   writable
 */
export async function startStore(path?: string): Promise<Store> {
  const lock = path === undefined ? undefined : await lockFolder(path, checkData);
  const accessKeyId = randomBytes(20).toString("hex");
  let closing = false;
  let { worker, port } = await startThread({ path, port: 0, accessKeyId });
  void restartAfterFailure();

  async function restartAfterFailure(): Promise<void> {
    const reason = await once(worker, "exit").then(() => "its thread ended", describe);
    if (!closing) console.error(`animal-store: The embedded store failed and restarts: ${reason}`);
    for (let lastFailure = ""; !closing; ) {
      await pause(RESTART_DELAY_MS, undefined, { ref: false });
      try {
        if (path !== undefined) await checkData(path);
        ({ worker, port } = await startThread({ path, port, accessKeyId }));
        console.error("animal-store: The embedded store has restarted.");
        return restartAfterFailure();
      } catch (error) {
        const failure = describe(error);
        if (failure !== lastFailure)
          console.error(`animal-store: The embedded store cannot restart: ${failure}`);
        lastFailure = failure;
      }
    }
  }

  return {
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId,
    close: async () => {
      closing = true;
      if (worker.threadId >= 0) {
        const ended = once(worker, "exit");
        worker.postMessage("close");
        await ended;
      }
      await lock?.close();
    },
  };
}

async function startThread(options: StoreOptions): Promise<{ worker: Worker; port: number }> {
  const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: options });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once("message", resolve).once("error", reject);
    worker.once("exit", () => reject(new Error("its thread ended")));
  });
  return { worker, port };
}

/**
 * Locks a folder with an empty database inside it. The operating system releases the lock when the process ends.
 *
 * @param check what must succeed while the folder is locked
 * @throws DataInUse when another process has locked the folder, or Error in one line when it is broken or not writable
 */
export async function lockFolder(path: string, check = async (_path: string) => {}): Promise<ClassicLevel> {
  // Every file that this process makes from now on is its owner's. LevelDB has no option for the mode of its files.
  process.umask(0o077);
  const lock = new ClassicLevel(join(path, "in-use"));
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await lock.open();
    await check(path);
    return lock;
  } catch (error) {
    await lock.close();
    const { cause } = error as Error & { cause?: NodeJS.ErrnoException };
    if (cause?.code === "LEVEL_LOCKED")
      throw new DataInUse(`The data folder ${path} is in use by another process.`);
    throw new Error(`The data folder ${path} cannot be opened: ${describe(error)}`);
  }
}

/** LevelDB's own message, where there is one. */
function describe(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error };
  return cause?.message ?? message;
}

/** Opens and closes the data: dynalite does not say why it cannot, and LevelDB not that it leaves out damaged writes. */
async function checkData(path: string): Promise<void> {
  const data = new ClassicLevel(path);
  await data.open();
  await data.close();
  const [damage] = /dropping \d+ bytes; .*/.exec(await readFile(join(path, "LOG"), "utf8")) ?? [];
  if (damage)
    console.error(`animal-store: The data in ${path} is damaged. Pets or keys can be missing: ${damage}`);
}
