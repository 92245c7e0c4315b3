import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ClassicLevel } from "classic-level";
import type { ThreadOptions } from "./worker.ts";

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
 * example because the disk is full, it restarts on the same port.
 *
 * @param path folder of the data, created when missing; without a path the data is kept in memory
 * @param report receives each cause of a failure, a restart, and what is damaged, in one line
 * @throws DataInUse when another process has the folder open, or Error in one line when the folder is broken or not
 *   writable
 */
export async function startStore(
  path?: string,
  report: (message: string) => void = console.error,
): Promise<Store> {
  const accessKeyId = randomBytes(20).toString("hex");
  const start = async (port: number) => {
    const damage = path && (await checkData(path));
    if (damage) report(`The data in ${path} is damaged. Items can be missing: ${damage}`);
    return startThread({ path, port, accessKeyId });
  };
  const lock = path === undefined ? undefined : await lockFolder(path);
  let { worker, port } = await start(0).catch(async (error) => {
    await lock?.close();
    throw cannotOpen(path, error);
  });
  let closing = false;
  void keepRunning();

  async function keepRunning(): Promise<void> {
    for (let failure = await endOf(worker), said = ""; !closing; ) {
      if (failure !== said)
        report(`The embedded store ${said ? "cannot restart" : "failed and restarts"}: ${failure}`);
      said = failure;
      await pause(RESTART_DELAY_MS, undefined, { ref: false });
      if (closing) return;
      try {
        ({ worker } = await start(port));
        report("The embedded store has restarted.");
        said = "";
        failure = await endOf(worker);
      } catch (error) {
        failure = describe(error);
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

async function startThread(options: ThreadOptions): Promise<{ worker: Worker; port: number }> {
  const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: options });
  const ended = endOf(worker).then((reason) => Promise.reject(new Error(reason)));
  const [port] = await Promise.race([once(worker, "message"), ended]);
  ended.catch(() => undefined);
  return { worker, port };
}

/** Waits for the end of a thread; returns why it ended. */
const endOf = (worker: Worker) => once(worker, "exit").then(() => "its thread ended", describe);

/**
 * Locks a folder with an empty database inside it. The operating system releases the lock when the process ends.
 *
 * @throws DataInUse when another process has locked the folder, or Error in one line when it is broken or not writable
 */
export async function lockFolder(path: string): Promise<ClassicLevel> {
  // Every file that this process makes from now on is its owner's. LevelDB has no option for the mode of its files.
  process.umask(0o077);
  const lock = new ClassicLevel(join(path, "in-use"));
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await lock.open();
    return lock;
  } catch (error) {
    await lock.close();
    const { cause } = error as Error & { cause?: NodeJS.ErrnoException };
    if (cause?.code !== "LEVEL_LOCKED") throw cannotOpen(path, error);
    throw new DataInUse(`The data folder ${path} is in use by another process.`);
  }
}

const cannotOpen = (path: string | undefined, error: unknown) =>
  new Error(`The data folder ${path} cannot be opened: ${describe(error)}`);

/** LevelDB's own message, where there is one. */
function describe(error: unknown): string {
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
