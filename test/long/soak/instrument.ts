import { syncBuiltinESMExports } from "node:module";
import threads, { BroadcastChannel, isMainThread, type Worker } from "node:worker_threads";

// Loaded into the service with `--import`: lets the soak test kill its threads and read their heaps.

const running = { "kill functions": new Set<Worker>(), "kill store": new Set<Worker>() };

/** A message to the instrumented service. */
export type Command = keyof typeof running | "measure";
/** Its reply. */
export interface Measurement {
  /** number of threads that were killed */
  killed?: number;
  /** MiB after a garbage collection, of the main thread and the store */
  heap?: number;
}

const channel = new BroadcastChannel("heap");
channel.unref();

/** MiB in use by this thread after a garbage collection. */
function usedHeap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** The store's thread has this module as well and replies, as soon as it runs. */
const usedHeapOfStore = () =>
  new Promise<number>((resolve) => {
    const retry = setInterval(() => channel.postMessage("measure"), 500);
    channel.onmessage = ({ data }) => {
      clearInterval(retry);
      resolve(data as number);
    };
  });

async function execute(command: Command): Promise<Measurement> {
  if (command === "measure") return { heap: usedHeap() + (await usedHeapOfStore()) };
  const killed = await Promise.all([...running[command]].map((worker) => worker.terminate()));
  return { killed: killed.length };
}

if (isMainThread) {
  threads.Worker = class extends threads.Worker {
    constructor(...[file, options]: ConstructorParameters<typeof Worker>) {
      super(file, options);
      const group = running[String(file).endsWith("store/thread.ts") ? "kill store" : "kill functions"];
      group.add(this);
      this.on("exit", () => group.delete(this));
    }
  };
  syncBuiltinESMExports();
  process.on("message", async (command: Command) => process.send?.(await execute(command)));
  process.channel?.unref();
} else {
  channel.onmessage = () => channel.postMessage(usedHeap());
}
