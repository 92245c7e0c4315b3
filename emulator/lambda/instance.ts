import inspector from "node:inspector";
import { Worker } from "node:worker_threads";
import type { FunctionDefinition } from "../template/template.ts";
import { type Failure, failureOf } from "./failure.ts";
import type { Invocation, InvocationResult, RuntimeMessage, RuntimeOptions } from "./worker.ts";

const worker = new URL("worker.ts", import.meta.url);

/** The folder of compiled code. Without it, every thread loads Node's TypeScript compiler, 12 MB. `npm start` sets it. */
const compileCache = process.env.NODE_COMPILE_CACHE;

/**
 * One instance of a function: a thread with its own environment and heap. A crash, `process.exit`, an unhandled
 * rejection and a timeout end the thread and fail only the invocation that it runs. So does a full heap, as a rule: Node can
 * also abort the process (nodejs/node#47224).
 */
export class FunctionInstance {
  readonly #definition: FunctionDefinition;
  readonly #worker: Worker;
  readonly #onEnd: () => void;
  #settle: ((result: InvocationResult) => void) | undefined;

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
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      // What this process loads first, the function does, too. The other option is for the references to source maps.
      execArgv: [
        ...process.execArgv.filter((option) => option.startsWith("--import=")),
        "--enable-source-maps",
      ],
      stdout: true,
      stderr: true,
    });
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      stream.on("data", (text) => onLog(String(text).trimEnd()));
    this.#worker.on("message", (message: RuntimeMessage) => {
      if ("log" in message) onLog(message.log);
      else this.#settle?.(message);
    });
    this.#worker.on("error", (error) => this.#end(failureOf(error)));
    this.#worker.on("exit", (status) =>
      this.#end({ errorMessage: `The function exited with status ${status}.` }),
    );
  }

  /**
   * Runs the function once. The instance must not be running another event.
   *
   * @param event JSON
   * @param requestId of the invocation
   * @returns the handler's result
   * @throws Error with the members of a Failure when the function threw, crashed or exceeded its timeout
   */
  async run(event: string, requestId: string): Promise<unknown> {
    // While a debugger can hold the function, the longest timer: 24 days.
    const timeoutMs = inspector.url() ? 2 ** 31 - 1 : this.#definition.timeoutMs;
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    this.#settle = resolve;
    this.#worker.postMessage({ event, requestId, deadline: Date.now() + timeoutMs } satisfies Invocation);
    const exceeded = `The function exceeded its timeout of ${timeoutMs} ms.`;
    const timer = setTimeout(() => this.terminate(exceeded), timeoutMs);
    const outcome = await promise;
    clearTimeout(timer);
    if ("failure" in outcome) throw Object.assign(new Error(outcome.failure.errorMessage), outcome.failure);
    return outcome.result === undefined ? undefined : JSON.parse(outcome.result);
  }

  /** Ends the thread, and with it the invocation that it runs. Waits until the thread has ended. */
  async terminate(errorMessage = "The service stopped."): Promise<void> {
    this.#end({ errorMessage });
    await this.#worker.terminate();
  }

  #end(failure: Failure): void {
    this.#settle?.({ failure });
    this.#onEnd();
  }
}
