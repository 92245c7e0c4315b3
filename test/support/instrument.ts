import { getHeapSnapshot, getHeapStatistics } from "node:v8";
import { isMainThread, type Worker } from "node:worker_threads";

// Loaded into the service with `--import`: lets a test end its threads, and read their heaps.

/** A message to the service. It replies to `measure` with the MiB that each thread uses, by the thread's id. */
export type Command = "end functions" | "measure";

/** The threads of the service. It starts the store first. */
const threads = new Set<Worker>();

/** The main thread, as `Worker` describes the others. */
const main = {
  threadId: 0,
  getHeapSnapshot: async () => getHeapSnapshot(),
  getHeapStatistics: async () => getHeapStatistics(),
};

async function execute(command: Command): Promise<void> {
  if (command === "end functions")
    await Promise.all([...threads].slice(1).map((thread) => thread.terminate()));
  if (command !== "measure") return;
  const used: Record<number, number> = {};
  for (const thread of [main, ...threads]) {
    // A snapshot begins with a garbage collection. One thread cannot start that of another in any other way.
    for await (const _chunk of await thread.getHeapSnapshot());
    const { used_heap_size, external_memory } = await thread.getHeapStatistics();
    used[thread.threadId] = (used_heap_size + external_memory) / 2 ** 20;
  }
  process.send?.(used);
}

// The thread of the store inherits `--import`.
if (isMainThread) {
  process.on("worker", (thread) => {
    threads.add(thread);
    thread.on("exit", () => threads.delete(thread));
  });
  process.on("message", execute);
  process.channel?.unref();
}
