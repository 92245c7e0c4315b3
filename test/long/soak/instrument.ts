import { syncBuiltinESMExports } from "node:module";
import threads, { BroadcastChannel, isMainThread, type Worker } from "node:worker_threads";

// Loaded into the service with `--import`: lets the soak test kill its threads and read their heaps.

/** A message to the instrumented service. */
export type Command = "kill functions" | "kill store" | "measure";
/** Its reply. */
export interface Measurement {
  /** number of threads that were killed */
  killed?: number;
  /** MiB after a garbage collection, of the main thread and the store */
  heap?: number;
}

const running = { functions: new Set<Worker>(), store: new Set<Worker>() };
const channel = new BroadcastChannel("heap");
channel.unref();

function track(): void {
  threads.Worker = class extends threads.Worker {
    constructor(...[file, options]: ConstructorParameters<typeof Worker>) {
      super(file, options);
      const group = String(file).endsWith("store/thread.ts") ? running.store : running.functions;
      group.add(this);
      this.on("exit", () => group.delete(this));
    }
  };
  syncBuiltinESMExports();
}

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

async function kill(workers: Set<Worker>): Promise<number> {
  return (await Promise.all([...workers].map((worker) => worker.terminate()))).length;
}

if (isMainThread) {
  track();
  process.on("message", async (command: Command) => {
    const result: Measurement =
      command === "measure"
        ? { heap: usedHeap() + (await usedHeapOfStore()) }
        : { killed: await kill(command === "kill store" ? running.store : running.functions) };
    process.send?.(result);
  });
  process.channel?.unref();
} else {
  channel.onmessage = () => channel.postMessage(usedHeap());
}
