import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { keysTableId, tableOutput } from "../../infra/names.ts";
import { localStage } from "../../infra/stages.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import { NewPet } from "../../lib/pet.ts";
import { docsPage } from "../../openapi/docs-page.ts";
import { exampleOf } from "../../openapi/example-values.ts";
import { loadFunctions } from "../emulator/functions.ts";
import { createGateway } from "../emulator/gateway/gateway.ts";
import { useStore } from "../emulator/store/aws-environment.ts";
import { createTables } from "../emulator/store/create-tables.ts";
import { startStore } from "../emulator/store/store.ts";
import type { StackDefinition } from "../emulator/template/template.ts";
import { buildStack } from "./assembly.ts";
import { dataPath, makeDataFolder, writeTables } from "./data-folder.ts";
import { ensureLocalKey } from "./local-key.ts";
import { requestLine } from "./service-log.ts";

/** The running service. */
export type Service = Awaited<ReturnType<typeof serve>>;

/**
 * Serves this API on 127.0.0.1, and prints how to call it.
 *
 * @param env PORT, DATA_DIR and AWS_ENDPOINT_URL_DYNAMODB, as `npm start -- --help` explains
 * @throws Error in one line when the port, the data folder or the store cannot be used, or with the CDK app's output
 */
export async function serve(env: NodeJS.ProcessEnv) {
  const started = Promise.withResolvers<RequestListener>();
  let listener: RequestListener = async (...request) => (await started.promise)(...request);
  // A browser sends the cookies of all ports of 127.0.0.1, which can be more than Node's 16 KiB.
  const server = createServer({ maxHeaderSize: 2 ** 20 }, (...request) => listener(...request));
  Object.assign(server, { httpAllowHalfOpen: true }); // `nc -N` closes its side after the request
  server.keepAliveTimeout = 600_000; // On a busy machine, Node's 5 s can end before it reads a request that has arrived.
  const port = env.PORT || "3000";
  const listening = async () => once(server.listen(Number(port), "127.0.0.1"), "listening");
  await listening().catch(({ code }) => {
    throw new Error(`Port ${port} cannot be used (${code}): set PORT, and DATA_DIR for a second service.`);
  });
  await makeDataFolder(env);
  const endpoint = env.AWS_ENDPOINT_URL_DYNAMODB;
  const store = endpoint ? { endpoint } : await startStore(dataPath(env, "dynamodb"));
  const environment = useStore(store);
  const stack = await buildStack(dataPath(env, "assembly"));
  await createTables(stack.tables);
  await writeTables(env, { ...store, outputs: stack.outputs });
  const keys = apiKeyStore(stack.outputs[tableOutput(keysTableId)] ?? "");
  const key = await ensureLocalKey(dataPath(env, "api-key"), keys, localStage.name);

  const load = async (next: StackDefinition) =>
    createGateway(next, await loadFunctions(next.functions, environment), (request) =>
      console.error(requestLine(request)),
    );
  let gateway = await load(stack);
  const docs = docsPage(key, stack.apiStageName);
  listener = (message, response) => {
    if (!docs(message, response)) gateway(message, response);
  };
  started.resolve(listener);

  // Not localhost, which can be ::1: another program can listen there and receive the key.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const baseUrl = `${origin}/${stack.apiStageName}`;
  console.log(`BASE_URL=${baseUrl}\nAPI_KEY=${key}`);
  const headers = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  console.log(`curl -w '\\n' ${baseUrl}/pets ${headers} -d '${JSON.stringify(exampleOf(NewPet))}'`);
  console.log(`Docs: ${origin}/docs\nPress Ctrl-C to stop.\n`);
  return {
    /** what the service serves at first */
    stack,
    /** Serves another template or code. */
    replace: async (next: StackDefinition): Promise<void> => {
      gateway = await load(next);
    },
  };
}
