import { existsSync } from "node:fs";
import { localStage } from "../infra/stages.ts";
import type { Log } from "../local/service-log.ts";
import { createGateway } from "./gateway/gateway.ts";
import { createThrottle } from "./gateway/throttle.ts";
import { waitForThreads } from "./lambda/instance.ts";
import { FunctionPool } from "./lambda/pool.ts";
import type { StackDefinition } from "./template/template.ts";

/**
 * Starts the functions of a stack.
 *
 * @param options.aws environment variables for the AWS clients of the functions
 */
export function startStack(
  stack: StackDefinition,
  { aws, throttled, log }: { aws: Record<string, string>; throttled: boolean; log: Log },
) {
  const functions = new Map(
    stack.functions.map((definition) => {
      if (!existsSync(definition.code))
        throw new Error(`${definition.code} is missing: delete its parent folder.`);
      const environment = { ...definition.environment };
      // The only value of the template that is replaced, so that keys of the local service are valid only here.
      if ("STAGE" in environment) environment.STAGE = localStage.name;
      return [definition.name, new FunctionPool({ ...definition, environment }, aws, log.function)];
    }),
  );
  for (const pool of functions.values()) pool.prestart();
  return {
    gateway: createGateway(stack, functions, {
      log: (request) => log.request(request, stack.accessLogFormat),
      ...(throttled && { tryAcquire: createThrottle(stack.throttling) }),
    }),
    /** Ends the functions as soon as they have no event to handle. */
    drain: () => {
      for (const pool of functions.values()) pool.drain();
    },
    /** Ends the functions at once, and waits until their threads have ended. */
    stop: () => {
      for (const pool of functions.values()) pool.stop();
      return waitForThreads();
    },
  };
}
