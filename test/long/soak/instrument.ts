import { syncBuiltinESMExports } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import threads, {
  BroadcastChannel,
  isMainThread,
  threadId,
  type Worker,
  workerData,
} from "node:worker_threads";

// Loaded into the service with `--import`: lets the soak test kill its threads and read their heaps.

const running = { "kill functions": new Set<Worker>(), "kill store": new Set<Worker>() };

/** A message to the instrumented service. */
export type Command = keyof typeof running | "measure";
/** Its reply. */
export interface Measurement {
  /** number of threads that were killed */
  killed?: number;
  /** MiB in use after a garbage collection: of the main thread, the store and the largest instance of a function */
  used?: number;
}

/** MiB that this thread uses in and outside its JavaScript heap after a garbage collection. */
function used(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

const channel = new BroadcastChannel("used");
channel.unref();

/** Returns what the largest thread uses. A thread that is starting replies as soon as it runs. */
async function largestUsed(group: Set<Worker>): Promise<number> {
  const replies = new Map<number, number>();
  channel.onmessage = ({ data }) => replies.set(data.id, data.used);
  for (;;) {
    const ids = [...group].map(({ threadId }) => threadId);
    const silent = ids.filter((id) => !replies.has(id));
    if (silent.length === 0) return Math.max(...ids.map((id) => replies.get(id) ?? 0));
    channel.postMessage(silent);
    await pause(100);
  }
}

async function execute(command: Command): Promise<Measurement> {
  if (command === "measure") {
    // The number of instances depends on the speed of the machine.
    const threads = [await largestUsed(running["kill store"]), await largestUsed(running["kill functions"])];
    return { used: threads.reduce((sum, mib) => sum + mib, used()) };
  }
  const killed = [...running[command]].map(
    (worker) => new Promise((resolve) => worker.once("exit", resolve)),
  );
  if (command === "kill store") channel.postMessage(command);
  else for (const worker of running[command]) void worker.terminate();
  await Promise.all(killed);
  return { killed: killed.length };
}

if (isMainThread) {
  threads.Worker = class extends threads.Worker {
    constructor(...[file, options]: ConstructorParameters<typeof Worker>) {
      super(file, { ...options, execArgv: ["--import", import.meta.filename] });
      const group = running[String(file).endsWith("store/worker.ts") ? "kill store" : "kill functions"];
      group.add(this);
      this.on("exit", () => group.delete(this));
    }
  };
  syncBuiltinESMExports();
  process.on("message", async (command: Command) => process.send?.(await execute(command)));
  process.channel?.unref();
} else {
  channel.onmessage = ({ data }) => {
    // As dynalite fails. LevelDB can abort the process when a thread is terminated in the middle of a call.
    if (data === "kill store" && workerData.port !== undefined) throw new Error("killed by the test");
    if (Array.isArray(data) && data.includes(threadId)) channel.postMessage({ id: threadId, used: used() });
  };
}
