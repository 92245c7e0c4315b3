import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { FunctionDefinition } from "../template/template.ts";
import type { Invocation, InvocationResult, RuntimeMessage, RuntimeOptions } from "./worker.ts";

const worker = new URL("worker.ts", import.meta.url);

/** The folder of compiled code. Without it, every thread loads Node's TypeScript compiler, 12 MB. `npm start` sets it. */
const compileCache = process.env.NODE_COMPILE_CACHE;

/** How often the limits of a running invocation are checked. */
const WATCH_INTERVAL_MS = 50;

/**
 * Node can abort the whole process when a thread reaches its own heap limit (nodejs/node#47224). The limit is therefore
 * set this many MiB above the function's memory size, and the instance is terminated in between.
 */
const HEAP_HEADROOM_MB = 512;

/** How long a thread can take to end. V8 cannot stop some loops, which fill the memory. */
const END_TIMEOUT_MS = 5000;

const threads = new Set<Worker>();

/** Waits until every thread of an instance has ended. */
export const waitForThreads = () => Promise.allSettled([...threads].map((thread) => once(thread, "exit")));

/**
 * One instance of a function: a thread with its own environment and heap. A crash, `process.exit`, an unhandled
 * rejection, a timeout and running out of memory end the thread and fail only the invocation that it runs.
 */
export class FunctionInstance {
  readonly #definition: FunctionDefinition;
  readonly #worker: Worker;
  readonly #onEnd: () => void;
  #settle: ((result: InvocationResult) => void) | undefined;
  #ended = false;

  /**
   * @param onLog receives every line that the function logs
   * @param onEnd is called when the instance can run no more events
   */
  constructor(definition: FunctionDefinition, onLog: (line: string) => void, onEnd: () => void) {
    this.#definition = definition;
    this.#onEnd = onEnd;
    const { code, handler, environment, memoryMb } = definition;
    this.#worker = new Worker(worker, {
      workerData: { code, handler } satisfies RuntimeOptions,
      env: { ...environment, ...(compileCache && { NODE_COMPILE_CACHE: compileCache }) },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb + HEAP_HEADROOM_MB },
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      stream.on("data", (text) => onLog(String(text).trimEnd()));
    this.#worker.on("message", (message: RuntimeMessage) => {
      if ("log" in message) onLog(message.log);
      else this.#settle?.(message);
    });
    this.#worker.on("error", ({ message }) => this.#end(message));
    threads.add(this.#worker);
    this.#worker.on("exit", (status) => {
      threads.delete(this.#worker);
      this.#end(`The function exited with status ${status}.`);
    });
  }

  /**
   * Runs the function once. The instance must not be running another event.
   *
   * @param event JSON
   * @param requestId of the invocation
   * @returns the handler's result
   * @throws Error when the function threw, crashed, or exceeded its timeout or memory size
   */
  async run(event: string, requestId: string): Promise<unknown> {
    const deadline = Date.now() + this.#definition.timeoutMs;
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    this.#settle = resolve;
    this.#worker.postMessage({ event, requestId, deadline } satisfies Invocation);
    const watch = setInterval(() => this.#checkLimits(deadline), WATCH_INTERVAL_MS);
    const outcome = await promise;
    clearInterval(watch);
    if ("failure" in outcome) throw new Error(outcome.failure);
    return outcome.result === undefined ? undefined : JSON.parse(outcome.result);
  }

  /** Ends the thread, and with it the invocation that it runs. If the thread does not end, an uncaught error follows. */
  terminate(reason = "The service stopped."): void {
    if (this.#ended) return; // a busy thread answers many checks together
    this.#end(reason);
    const timer = setTimeout(() => {
      throw new Error(`The function ${this.#definition.name} runs code that cannot be stopped.`);
    }, END_TIMEOUT_MS).unref();
    void this.#worker.terminate().then(() => clearTimeout(timer));
  }

  #end(failure: string): void {
    this.#ended = true;
    this.#settle?.({ failure });
    this.#onEnd();
  }

  /** Terminates the thread when its invocation exceeds its limits. */
  async #checkLimits(deadline: number): Promise<void> {
    const { timeoutMs, memoryMb } = this.#definition;
    if (Date.now() >= deadline)
      return this.terminate(`The function exceeded its timeout of ${timeoutMs} ms.`);
    const heap = await this.#worker.getHeapStatistics().catch(() => undefined); // the thread ended meanwhile
    if (heap && heap.used_heap_size > memoryMb * 2 ** 20) this.terminate("The function ran out of memory.");
  }
}
