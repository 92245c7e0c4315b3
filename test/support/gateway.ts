import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readStack } from "../../infra/assembly/template.ts";
import { servedStackName } from "../../infra/stages.ts";
import { FunctionPool } from "../../local/lambda/pool.ts";

/**
 * The template of staging, with the source of two functions replaced.
 *
 * @param sources CommonJS that exports `handler`; `operation` serves GET /pets
 * @param log receives the functions' log, line by line
 * @returns the template, its functions by name, the name of `operation`, and what ends them
 */
export async function replaceFunctions(
  sources: { operation: string; authorizer: string },
  log: (line: string) => void = () => undefined,
) {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-gateway-"));
  const stack = readStack(process.env.TEST_ASSEMBLY ?? "", servedStackName);
  const route = stack.routes.find(({ method, path }) => method === "GET" && path === "/pets");
  const integration = route?.integration;
  const operationName = integration?.type === "AWS_PROXY" ? integration.functionName : "";
  const pool = async (name: string, source: string) => {
    await writeFile(join(folder, `${name}.js`), source);
    const limits = { timeoutMs: 4000, memoryMb: 64 };
    const definition = {
      id: name,
      name,
      code: folder,
      handler: `${name}.handler`,
      environment: { OWN: name },
      ...limits,
    };
    return new FunctionPool(definition, { AWS_REGION: "local" }, log);
  };
  const functions = new Map([
    [operationName, await pool("operation", sources.operation)],
    [stack.authorizer.functionName, await pool("authorizer", sources.authorizer)],
  ]);
  const stop = async () => {
    for (const pool of functions.values()) pool.stop();
    await rm(folder, { recursive: true });
  };
  return { stack, functions, operationName, stop };
}
