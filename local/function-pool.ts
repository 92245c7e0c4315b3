import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FunctionDefinition } from "../infra/assembly/template.ts";
import type { Invocation, Outcome } from "./lambda-runtime.ts";
import { FunctionError } from "./refusal.ts";

const runtime = fileURLToPath(new URL("lambda-runtime.ts", import.meta.url));

// Enough to keep two to four cores busy; further requests wait for an instance.
const MAX_INSTANCES = 4;

/** The instances of one function, each a process of its own that handles one event at a time. */
export class FunctionPool {
  readonly #definition: FunctionDefinition;
  readonly #environment: Record<string, string>;
  readonly #idle: ChildProcess[] = [];
  readonly #instances = new Set<ChildProcess>();
  readonly #waiting: ((instance: ChildProcess) => void)[] = [];

  /** @param environment what Lambda would set besides the function's own variables */
  constructor(definition: FunctionDefinition, environment: Record<string, string>) {
    this.#definition = definition;
    this.#environment = { ...environment, ...definition.environment };
  }

  /**
   * Runs the function once.
   *
   * @param event passed to the handler
   * @param requestId of the invocation, for the function's log
   * @returns the handler's result
   * @throws FunctionError when it threw (with its message), crashed, or exceeded its timeout
   */
  async invoke(event: unknown, requestId: string): Promise<unknown> {
    const instance = await this.#acquire();
    try {
      const outcome = await this.#run(instance, event, requestId);
      if ("result" in outcome) return outcome.result;
      throw new FunctionError(outcome.errorMessage);
    } finally {
      this.#release(instance);
    }
  }

  /** Ends every instance. */
  stop(): void {
    for (const instance of this.#instances) instance.kill("SIGKILL");
  }

  #run(instance: ChildProcess, event: unknown, requestId: string): Promise<Outcome> {
    const { timeoutMs } = this.#definition;
    const invocation: Invocation = { event, requestId, deadline: Date.now() + timeoutMs };
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        clearTimeout(timer);
        instance.off("message", onMessage).off("exit", onExit);
        action();
      };
      const onMessage = (outcome: Outcome) => settle(() => resolve(outcome));
      const onExit = () => settle(() => reject(new FunctionError("The function's process ended.")));
      const timer = setTimeout(() => {
        instance.kill("SIGKILL");
        settle(() => reject(new FunctionError(`The function ran longer than ${timeoutMs} ms.`)));
      }, timeoutMs);
      instance.on("message", onMessage).on("exit", onExit);
      // A send to a process that is just ending fails; its exit is what is reported.
      instance.send(invocation, () => undefined);
    });
  }

  async #acquire(): Promise<ChildProcess> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#instances.size < MAX_INSTANCES) return this.#start();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(instance: ChildProcess): void {
    const alive = this.#instances.has(instance) && !instance.killed;
    const next = this.#waiting.shift();
    if (next) next(alive ? instance : this.#start());
    else if (alive) this.#idle.push(instance);
  }

  #start(): ChildProcess {
    const { code, handler, memoryMb } = this.#definition;
    const instance = fork(runtime, [code, handler], {
      env: this.#environment,
      execArgv: [`--max-old-space-size=${memoryMb}`],
      // The functions' log goes to standard error; standard output is for the person at the terminal.
      stdio: ["ignore", process.stderr, process.stderr, "ipc"],
    });
    this.#instances.add(instance);
    instance.on("exit", () => {
      this.#instances.delete(instance);
      const index = this.#idle.indexOf(instance);
      if (index >= 0) this.#idle.splice(index, 1);
    });
    instance.on("error", () => undefined); // reported by `exit`
    return instance;
  }
}
