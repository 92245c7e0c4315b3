import type { FunctionDefinition } from "../template/template.ts";
import type { Failure } from "./failure.ts";
import { FunctionInstance } from "./instance.ts";

/** Further events wait for an instance. */
export const MAX_INSTANCES = 4;

/** The instances of one function. Each handles one event at a time, as on Lambda. */
export class FunctionPool {
  readonly #definition: FunctionDefinition;
  readonly #log: (line: string) => void;
  readonly #instances = new Set<FunctionInstance>();
  readonly #idle = new Set<FunctionInstance>();
  readonly #waiting: ((instance: FunctionInstance) => void)[] = [];
  #draining = false;

  /**
   * Starts an instance, so that the first event does not wait for it.
   *
   * @param log receives the function's log, line by line
   */
  constructor(definition: FunctionDefinition, log: (line: string) => void) {
    this.#definition = definition;
    this.#log = log;
    this.#idle.add(this.#start());
  }

  /** Runs the function once, in an idle instance or a new one: see `run` of FunctionInstance. Logs why it failed. */
  async invoke(event: string, requestId: string): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<FunctionInstance>();
    this.#waiting.push(resolve);
    this.#assign();
    const instance = await promise;
    try {
      return await instance.run(event, requestId);
    } catch (error) {
      const { errorType, errorMessage, stackTrace } = error as Failure;
      const message = { errorType, errorMessage, stackTrace };
      const timestamp = new Date().toISOString();
      this.#log(JSON.stringify({ timestamp, level: "ERROR", requestId, message }));
      throw error;
    } finally {
      if (this.#instances.has(instance)) this.#idle.add(instance);
      this.#assign();
    }
  }

  /** Ends the instances as soon as they have no event to handle. */
  drain(): void {
    this.#draining = true;
    this.#assign();
  }

  /** Ends every instance, and waits until their threads have ended. */
  async stop(): Promise<void> {
    await Promise.all([...this.#instances].map((instance) => instance.terminate()));
  }

  /** Gives the waiting events the idle instances, or new ones. */
  #assign(): void {
    while (this.#waiting.length > 0 && (this.#idle.size > 0 || this.#instances.size < MAX_INSTANCES)) {
      const [instance = this.#start()] = this.#idle;
      this.#idle.delete(instance);
      this.#waiting.shift()?.(instance);
    }
    if (this.#draining) for (const instance of this.#idle) void instance.terminate();
  }

  #start(): FunctionInstance {
    const instance = new FunctionInstance(this.#definition, this.#log, () => {
      this.#instances.delete(instance);
      this.#idle.delete(instance);
      this.#assign();
    });
    this.#instances.add(instance);
    return instance;
  }
}
