import type { FunctionDefinition } from "../infra/assembly/template.ts";
import { FunctionInstance } from "./function-instance.ts";
import type { FunctionError } from "./refusal.ts";

/** Enough to keep two to four cores busy. Further events wait for an instance. */
const USUAL_INSTANCES = 2;
/** How many there can be when an event waits long, for example for instances that hang. */
const MAX_INSTANCES = 4;
const LONG_WAIT_MS = 1000;

/** The instances of one function. Each handles one event at a time, as on Lambda. */
export class FunctionPool {
  readonly #definition: FunctionDefinition;
  readonly #environment: Record<string, string>;
  readonly #log: (line: string) => void;
  readonly #idle: FunctionInstance[] = [];
  readonly #instances = new Set<FunctionInstance>();
  #retired = false;
  readonly #waiting: ((instance: FunctionInstance) => void)[] = [];

  /**
   * @param environment what Lambda sets in addition to the function's own variables
   * @param log receives the function's log, line by line
   */
  constructor(
    definition: FunctionDefinition,
    environment: Record<string, string>,
    log: (line: string) => void,
  ) {
    this.#definition = definition;
    this.#environment = { ...environment, ...definition.environment };
    this.#log = log;
  }

  get name(): string {
    return this.#definition.name;
  }

  /** Starts an instance, so that the first event does not wait for it. */
  warmUp(): void {
    this.#idle.push(this.#start());
  }

  /**
   * Runs the function once.
   *
   * @param event JSON
   * @param requestId of the invocation, for the function's log
   * @returns the handler's result
   * @throws FunctionError when it threw, crashed, or exceeded its timeout or memory size
   */
  async invoke(event: string, requestId: string): Promise<unknown> {
    const instance = await this.#acquire();
    try {
      return await instance.run(event, requestId);
    } catch (error) {
      const { message } = error as FunctionError;
      const timestamp = new Date().toISOString();
      this.#log(JSON.stringify({ timestamp, level: "ERROR", requestId, message: { errorMessage: message } }));
      throw error;
    } finally {
      this.#release(instance);
    }
  }

  /** Ends the instances as soon as they have no event to handle. */
  retire(): void {
    this.#retired = true;
    for (const instance of [...this.#idle]) instance.terminate();
  }

  /** Ends every instance. */
  stop(): void {
    for (const instance of this.#instances) instance.terminate();
  }

  async #acquire(): Promise<FunctionInstance> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#instances.size < USUAL_INSTANCES) return this.#start();
    const { promise, resolve } = Promise.withResolvers<FunctionInstance>();
    this.#waiting.push(resolve);
    const timer = setTimeout(() => {
      if (this.#instances.size < MAX_INSTANCES) this.#release(this.#start());
    }, LONG_WAIT_MS);
    return promise.finally(() => clearTimeout(timer));
  }

  /** Hands an instance, or a new one if it ended, to the next event. */
  #release(instance: FunctionInstance): void {
    const next = this.#waiting.shift();
    if (next) next(instance.alive ? instance : this.#start());
    else if (this.#retired || this.#instances.size > USUAL_INSTANCES) instance.terminate();
    else if (instance.alive) this.#idle.push(instance);
  }

  #start(): FunctionInstance {
    const instance = new FunctionInstance(this.#definition, this.#environment, {
      onLog: this.#log,
      onEnd: () => {
        this.#instances.delete(instance);
        const index = this.#idle.indexOf(instance);
        if (index >= 0) this.#idle.splice(index, 1);
      },
    });
    this.#instances.add(instance);
    return instance;
  }
}
