import { syncBuiltinESMExports } from "node:module";
import threads, { isMainThread, type Worker } from "node:worker_threads";

// Loaded into the service with `--import`: lets the soak test kill its threads and read their heaps.

/** A message to the instrumented service. */
export type Command = "kill functions" | "kill store" | "measure";
/** Its reply. */
export interface Measurement {
  killed?: number;
  /** MiB after a garbage collection, of all threads together */
  heap?: number;
}

const running = { functions: new Set<Worker>(), store: new Set<Worker>() };

function track(): void {
  threads.Worker = class extends threads.Worker {
    constructor(...[file, options]: ConstructorParameters<typeof Worker>) {
      super(file, options);
      const group = String(file).endsWith("store-thread.ts") ? running.store : running.functions;
      group.add(this);
      this.on("exit", () => group.delete(this));
    }
  };
  syncBuiltinESMExports();
}

async function usedHeap(worker: Worker): Promise<number> {
  // A snapshot begins with a garbage collection.
  const snapshot = await worker.getHeapSnapshot();
  for await (const _ of snapshot);
  return (await worker.getHeapStatistics()).used_heap_size;
}

async function measure(): Promise<number> {
  globalThis.gc?.();
  let bytes = process.memoryUsage().heapUsed;
  for (const worker of [...running.functions, ...running.store]) bytes += await usedHeap(worker);
  return bytes / 2 ** 20;
}

async function kill(workers: Set<Worker>): Promise<number> {
  return (await Promise.all([...workers].map((worker) => worker.terminate()))).length;
}

if (isMainThread) {
  track();
  process.on("message", async (command: Command) => {
    const result: Measurement =
      command === "measure"
        ? { heap: await measure() }
        : { killed: await kill(command === "kill store" ? running.store : running.functions) };
    process.send?.(result);
  });
  process.channel?.unref();
}
