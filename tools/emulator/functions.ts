import inspector from "node:inspector";
import { createRequire, setSourceMapsSupport } from "node:module";
import { resolve } from "node:path";
import type { FunctionDefinition } from "./template/template.ts";

/** Runs a function once. @returns its result; rejects with what the function threw, which is logged */
export type Invoke = (functionName: string, event: object) => Promise<unknown>;
type Handler = (event: object, context: object) => unknown;

/**
 * Loads the functions of a stack into this process, as Lambda loads them: while a function is loaded, `process.env` is the
 * environment of this function. Later it is the environment of all functions.
 *
 * @param environment the variables that Lambda sets for each function, in addition to those of the template
 * @throws Error with the stack of a function that cannot be loaded
 */
export async function loadFunctions(
  functions: FunctionDefinition[],
  environment: Record<string, string>,
): Promise<Invoke> {
  setSourceMapsSupport(true);
  Object.assign(process.env, ...functions.map((fn) => fn.environment));
  const loaded = new Map<string, (event: object) => unknown>();
  for (const fn of functions) {
    const run = await load(fn, environment);
    loaded.set(fn.name, (event) => {
      // While a debugger can hold a function, it has as long as the longest timer: 24 days.
      const deadline = Date.now() + (inspector.url() ? 2 ** 31 - 1 : fn.timeoutMs);
      return run(event, { getRemainingTimeInMillis: () => deadline - Date.now() });
    });
  }
  return async (name, event) => {
    try {
      const result = await loaded.get(name)?.(event);
      return JSON.parse(JSON.stringify(result ?? null));
    } catch (error) {
      console.error(`${name}:`, error);
      throw error;
    }
  };
}

/** Loads a function as its entry does in Lambda (infra/bundle/lambda-entry.mjs). An ES module would stay in memory for ever. */
async function load(
  { name, code, handler, environment }: FunctionDefinition,
  ofLambda: Record<string, string>,
): Promise<Handler> {
  const own = process.env;
  try {
    const index = resolve(code, "index.cjs");
    const require = createRequire(index);
    delete require.cache[index];
    process.env = { ...ofLambda, ...environment }; // nothing else runs meanwhile
    const { [handler.replace(/^.*\./, "")]: run, ready } = require(index);
    process.env = own;
    await ready;
    if (typeof run !== "function") throw new Error(`${index} has no handler.`);
    return run;
  } catch (error) {
    throw new Error(`${name} cannot be loaded: ${(error as Error).stack ?? error}`);
  } finally {
    process.env = own;
  }
}
