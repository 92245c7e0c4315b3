import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readStack, type StackDefinition } from "../../local/assembly/template.ts";
import { FunctionPool } from "../../local/functions/pool.ts";

/** A server on 127.0.0.1 and a free port. */
export async function listen(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * The template of staging, with the source of two functions replaced.
 *
 * @param sources CommonJS that exports `handler`; `operation` serves GET /pets
 * @returns the template, its functions by name, the name of `operation`, and what ends them
 */
export async function replaceFunctions(sources: { operation: string; authorizer: string }) {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-gateway-"));
  const stack: StackDefinition = readStack(process.env.TEST_ASSEMBLY ?? "", "animal-store-staging");
  const route = stack.routes.find(({ method, path }) => method === "GET" && path === "/pets");
  const integration = route?.integration;
  const operationName = integration?.type === "AWS_PROXY" ? integration.functionName : "";
  const pool = async (name: string, source: string) => {
    await writeFile(join(folder, `${name}.js`), source);
    const definition = {
      name,
      code: folder,
      handler: `${name}.handler`,
      environment: { OWN: name },
      timeoutMs: 4000,
      memoryMb: 64,
    };
    return new FunctionPool(definition, { AWS_REGION: "local" }, () => undefined);
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
