import type { RequestListener } from "node:http";
import { local, servedStack } from "../infra/stages.ts";
import { readStack } from "./assembly/template.ts";
import { FunctionPool } from "./functions/pool.ts";
import { createGateway, type HandledRequest } from "./gateway/gateway.ts";
import { Throttle } from "./gateway/throttle.ts";

/** One assembly that is served: its gateway and its functions. */
export interface Deployment {
  gateway: RequestListener;
  /** Ends the functions as soon as they have no event to handle. */
  retire(): void;
  /** Ends the functions at once. */
  stop(): void;
}

export interface DeploymentOptions {
  /** environment variables for the AWS clients of the functions */
  aws: Record<string, string>;
  throttled: boolean;
  logRequest: (request: HandledRequest, accessLogFormat: string) => void;
  /** receives the functions' log, line by line */
  logFunction: (line: string) => void;
}

/** @param assembly folder of a synthesized assembly */
export function deploy(
  assembly: string,
  { aws, throttled, logRequest, logFunction }: DeploymentOptions,
): Deployment {
  const stack = readStack(assembly, servedStack);
  const pools = stack.functions.map((definition) => {
    const environment = { ...definition.environment };
    // The only value of the template that is replaced, so that keys of the local service are valid only here.
    if ("STAGE" in environment) environment.STAGE = local.name;
    return new FunctionPool({ ...definition, environment }, aws, logFunction);
  });
  for (const pool of pools) pool.warmUp();
  const functions = new Map(pools.map((pool) => [pool.name, pool]));
  const gateway = createGateway(stack, functions, {
    log: (request) => logRequest(request, stack.accessLogFormat),
    ...(throttled && { throttle: new Throttle(stack.throttling) }),
  });
  return {
    gateway,
    retire: () => {
      for (const pool of pools) pool.retire();
    },
    stop: () => {
      for (const pool of pools) pool.stop();
    },
  };
}
