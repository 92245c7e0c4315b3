import { createGateway, type GatewayOptions } from "./gateway/gateway.ts";
import type { Invoke } from "./gateway/integration.ts";
import { FunctionPool } from "./lambda/pool.ts";
import type { StackDefinition } from "./template/template.ts";

/** How a stack is served. */
export interface StackOptions extends Omit<GatewayOptions, "invoke"> {
  /** the variables that Lambda sets for each function, in addition to those of the template */
  environment: Record<string, string>;
  /** receives each line that a function logs */
  onLog: (line: string) => void;
}

/** Starts the functions of a stack, and its API. */
export function startStack(stack: StackDefinition, { environment, onLog, ...options }: StackOptions) {
  const pools = new Map(
    stack.functions.map((fn) => [
      fn.name,
      new FunctionPool({ ...fn, environment: { ...environment, ...fn.environment } }, onLog),
    ]),
  );
  const invoke: Invoke = (name, event, requestId) => {
    const pool = pools.get(name);
    if (!pool) throw new Error(`The template has no function ${name}.`);
    return pool.invoke(event, requestId);
  };
  return {
    gateway: createGateway(stack, { ...options, invoke }),
    /** Ends the functions as soon as they have no event to handle. */
    drain: () => {
      for (const pool of pools.values()) pool.drain();
    },
    /** Ends the functions at once, and waits until their threads have ended. */
    stop: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.stop()));
    },
  };
}
