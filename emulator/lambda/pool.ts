import type { FunctionDefinition } from "../template/template.ts";
import { type FunctionError, FunctionInstance } from "./instance.ts";

/** Enough to keep two to four cores busy. Further events wait for an instance. */
const USUAL_INSTANCES = 2;
/** An instance that has run its event for this long, for example because it hangs, gets a substitute until it is done. */
const SLOW_MS = 1000;
const MAX_INSTANCES = 4;

/** The instances of one function. Each handles one event at a time, as on Lambda. */
export class FunctionPool {
  readonly #definition: FunctionDefinition;
  readonly #log: (line: string) => void;
  readonly #idle: FunctionInstance[] = [];
  readonly #instances = new Set<FunctionInstance>();
  readonly #slow = new Set<FunctionInstance>();
  readonly #waiting: ((instance: FunctionInstance) => void)[] = [];
  #draining = false;

  /**
   * @param environment what Lambda sets in addition to the function's own variables
   * @param log receives the function's log, line by line
   */
  constructor(
    definition: FunctionDefinition,
    environment: Record<string, string>,
    log: (line: string) => void,
  ) {
    this.#definition = { ...definition, environment: { ...environment, ...definition.environment } };
    this.#log = log;
  }

  /** Starts an instance, so that the first event does not wait for it. */
  prestart(): void {
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
    const timer = setTimeout(() => {
      this.#slow.add(instance);
      this.#assign();
    }, SLOW_MS);
    try {
      return await instance.run(event, requestId);
    } catch (error) {
      const { message } = error as FunctionError;
      const timestamp = new Date().toISOString();
      this.#log(JSON.stringify({ timestamp, level: "ERROR", requestId, message: { errorMessage: message } }));
      throw error;
    } finally {
      clearTimeout(timer);
      this.#slow.delete(instance);
      if (this.#instances.has(instance)) this.#idle.push(instance);
      this.#endUnused();
      this.#assign();
    }
  }

  /** Ends the instances as soon as they have no event to handle. */
  drain(): void {
    this.#draining = true;
    this.#endUnused();
  }

  /** Ends every instance. */
  stop(): void {
    for (const instance of this.#instances) instance.terminate();
  }

  #acquire(): Promise<FunctionInstance> {
    const { promise, resolve } = Promise.withResolvers<FunctionInstance>();
    this.#waiting.push(resolve);
    this.#assign();
    return promise;
  }

  /** Gives the waiting events the idle instances, and new ones while there are too few. */
  #assign(): void {
    while (this.#waiting.length > 0) {
      const enough = this.#usable.length >= USUAL_INSTANCES || this.#instances.size >= MAX_INSTANCES;
      if (this.#idle.length === 0 && enough) return;
      this.#waiting.shift()?.(this.#idle.pop() ?? this.#start());
    }
  }

  /** The instances that are not slow, oldest first. */
  get #usable(): FunctionInstance[] {
    return [...this.#instances].filter((instance) => !this.#slow.has(instance));
  }

  /** Ends the idle instances that are too many. The oldest stay, because starting one takes time. */
  #endUnused(): void {
    const needed = this.#draining && this.#waiting.length === 0 ? 0 : USUAL_INSTANCES;
    for (const instance of this.#usable.slice(needed))
      if (this.#idle.includes(instance)) instance.terminate();
  }

  #start(): FunctionInstance {
    const instance = new FunctionInstance(this.#definition, this.#log, () => {
      this.#instances.delete(instance);
      const index = this.#idle.indexOf(instance);
      if (index >= 0) this.#idle.splice(index, 1);
    });
    this.#instances.add(instance);
    return instance;
  }
}
