import { hash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import inspector from "node:inspector";
import { createRequire, setSourceMapsSupport } from "node:module";
import { resolve } from "node:path";
import type { FunctionDefinition } from "./template/template.ts";

/** Runs a function once. @returns its result; rejects with what the function threw, which is logged */
export type Invoke = (functionName: string, event: object) => Promise<unknown>;
type Handler = (event: object, context: object) => unknown;

/** By the file of their code, with a hash of it and of the environment: what has not changed is not loaded again. */
const loadedBefore = new Map<string, { version: string; run: Handler }>();

/**
 * Loads the functions of a stack into this process, as Lambda loads them: what a function reads of `process.env` while it is
 * loaded is its own environment. What it reads later is that of all functions. The user's AWS settings are in neither.
 *
 * @param environment the variables that Lambda sets for each function, in addition to those of the template
 * @throws Error with the stack of a function that cannot be loaded
 */
export async function loadFunctions(
  functions: FunctionDefinition[],
  environment: Record<string, string>,
): Promise<Invoke> {
  setSourceMapsSupport(true);
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, environment, ...functions.map((fn) => fn.environment));
  const loaded = new Map<string, Handler>();
  for (const fn of functions) loaded.set(fn.name, await load(fn, environment));
  const timeouts = new Map(functions.map(({ name, timeoutMs }) => [name, timeoutMs]));

  return async (name, event) => {
    // While a debugger can hold the function, the longest timer: 24 days.
    const timeoutMs = inspector.url() ? 2 ** 31 - 1 : timeouts.get(name);
    const deadline = Date.now() + Number(timeoutMs);
    const context = {
      awsRequestId: randomUUID(),
      getRemainingTimeInMillis: () => deadline - Date.now(),
    };
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error(`The function exceeded its timeout of ${timeoutMs} ms.`)),
      timeoutMs,
    );
    try {
      const result = await Promise.race([loaded.get(name)?.(event, context), timeout]);
      return JSON.parse(JSON.stringify(result ?? null));
    } catch (error) {
      console.error(`${name}:`, error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Loads a function as its entry does in Lambda (infra/bundle/lambda-entry.mjs). An ES module would stay in memory for ever. */
async function load(
  { name, code, handler, environment }: FunctionDefinition,
  ofLambda: Record<string, string>,
): Promise<Handler> {
  const ofItsOwn = { ...ofLambda, ...environment };
  const own = process.env;
  try {
    const require = createRequire(resolve(code, "index.cjs"));
    const index = require.resolve("./index.cjs");
    const version = hash("sha256", JSON.stringify(ofItsOwn) + readFileSync(index));
    const known = loadedBefore.get(index);
    if (known?.version === version) return known.run;
    delete require.cache[index];
    process.env = ofItsOwn; // nothing else runs meanwhile
    const { [handler.replace(/^.*\./, "")]: run, ready } = require(index);
    process.env = own;
    await ready;
    loadedBefore.set(index, { version, run });
    return run;
  } catch (error) {
    throw new Error(`${name} cannot be loaded: ${(error as Error).stack ?? error}`);
  } finally {
    process.env = own;
  }
}
