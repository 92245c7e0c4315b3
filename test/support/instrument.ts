import { getHeapSnapshot, getHeapStatistics } from "node:v8";
import { BroadcastChannel, isMainThread, type Worker } from "node:worker_threads";

// Loaded into the service with `--import`: lets a test end its threads, and read their heaps.

/** A message to the service. It replies to `measure` with the MiB that each thread uses, by the thread's id. */
export type Command = "fail store" | "end functions" | "measure";

const channel = new BroadcastChannel("instrument");
channel.unref();

/** The threads of the service. It starts the store first. */
const threads = new Set<Worker>();

/** The main thread, as `Worker` describes the others. */
const main = {
  threadId: 0,
  getHeapSnapshot: async () => getHeapSnapshot(),
  getHeapStatistics: async () => getHeapStatistics(),
};

async function execute(command: Command): Promise<void> {
  if (command === "fail store") channel.postMessage(command);
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

if (isMainThread) {
  process.on("worker", (thread) => {
    threads.add(thread);
    thread.on("exit", () => threads.delete(thread));
  });
  process.on("message", execute);
  process.channel?.unref();
} else {
  // Only the thread of the store inherits `--import`. It fails as dynalite does, with an uncaught error.
  channel.onmessage = () => {
    throw new Error("failed by the test");
  };
}
