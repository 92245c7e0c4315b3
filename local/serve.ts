import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpServer } from "../emulator/gateway/server.ts";
import { startStack } from "../emulator/running-stack.ts";
import { awsEnvironment, clientConfig, type StoreAddress } from "../emulator/store/aws-environment.ts";
import { createTables, OtherTables } from "../emulator/store/create-tables.ts";
import { lockFolder, type Report, startStore } from "../emulator/store/store.ts";
import type { StackDefinition } from "../emulator/template/template.ts";
import { keysTableId, tableOutput } from "../infra/names.ts";
import { localStage } from "../infra/stages.ts";
import { apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { docsPage } from "../openapi/docs-page.ts";
import { dataFolder, keyFile, makeDataFolder, storeFolder, writeTables } from "./data-folder.ts";
import { ensureLocalKey } from "./local-key.ts";
import { serviceLog } from "./service-log.ts";

/** The running service. */
export type Service = Awaited<ReturnType<typeof serve>>;

/**
 * Serves this API on 127.0.0.1, and prints how to call it.
 *
 * @param env PORT, DATA_DIR and AWS_ENDPOINT_URL_DYNAMODB, as `npm start -- --help` explains
 * @param readStack returns the current stack. It is called when the data folder can be used
 * @param atEnd gets what to undo when the process ends
 * @param onStoreFailure receives one line when the store has ended by itself
 * @throws Error in one line when the port, the data folder or the store cannot be used
 */
export async function serve(
  env: NodeJS.ProcessEnv,
  readStack: () => Promise<StackDefinition>,
  atEnd: AsyncDisposableStack,
  onStoreFailure: Report,
) {
  const [port, folder] = [readPort(env), dataFolder(env)];
  // The start can take seconds. A port that cannot be bound is reported before.
  const probe = createServer();
  await listen(probe, port);
  probe.close();
  await makeDataFolder(env);
  const lock = await lockFolder(folder);
  atEnd.defer(() => lock.close());
  let storeFailed = false;
  const store: StoreAddress = await openStore(env, atEnd, (message) => {
    storeFailed = true;
    onStoreFailure(message);
  });
  const environment = awsEnvironment(store);

  const stack = await readStack();
  const { tables, outputs, apiStageName } = stack;
  const apiKeysTable = outputs[tableOutput(keysTableId)] ?? "";
  await createTables(store, tables).catch((error) => {
    if (!store.accessKeyId || !(error instanceof OtherTables)) throw error;
    throw new Error(`${error.message} Delete the folder ${folder} or set DATA_DIR to another one.`);
  });
  await writeTables(env, { ...store, apiKeysTable });
  const keys = apiKeyStore(apiKeysTable, clientConfig(store));
  const key = await ensureLocalKey(keyFile(env), keys, localStage.name);

  const log = serviceLog(process.stderr);
  const options = {
    environment,
    // Without its store, each call fails, and more lines would hide why.
    onRequest: (...request: Parameters<typeof log.request>) => storeFailed || log.request(...request),
    onLog: (line: string) => storeFailed || log.function(line),
    onFailure: console.error,
  };
  let running = startStack(stack, options);
  atEnd.defer(() => running.stop());
  const docs = docsPage(key, apiStageName);
  const server = new HttpServer((message, response) => {
    // The gateway has a 400 for a request without exactly one Host.
    const oneHost = message.headersDistinct.host?.length === 1;
    if (/^\/(docs|$)/.test(message.url ?? "") && oneHost && docs(message, response)) return;
    running.gateway(message, response);
  });
  await listen(server, port);

  // Not localhost, which can be ::1: another program can listen there and receive the key.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const baseUrl = `${origin}/${apiStageName}`;
  console.log(`BASE_URL=${baseUrl}\nAPI_KEY=${key}`);
  const headers = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  console.log(`curl -w '\\n' ${baseUrl}/pets ${headers} -d '{"name": "Rex", "categoryId": 1}'`);
  console.log(`Docs: ${origin}/docs\nPress Ctrl-C to stop.\n`);
  return {
    server,
    /** what it started with */
    stack,
    /** Serves another template or code, and ends the last functions as soon as they have no event to handle. */
    replace(next: StackDefinition): void {
      const started = startStack(next, options);
      running.drain();
      running = started;
    },
  };
}

function readPort({ PORT = "" }: NodeJS.ProcessEnv): number {
  const port = Number(PORT || 3000);
  if (!/^\d*$/.test(PORT) || port > 65535)
    throw new Error(`PORT must be an integer from 0 to 65535, not \`${PORT}\`.`);
  return port;
}

/** @throws Error in one line when the port cannot be bound */
async function listen(server: Server, port: number): Promise<void> {
  await once(server.listen(port, "127.0.0.1"), "listening").catch(({ code }) => {
    throw new Error(`Port ${port} cannot be used (${code}). For a second service, set PORT and DATA_DIR.`);
  });
}

/** Returns the store: the embedded one, unless the environment names another. */
async function openStore(env: NodeJS.ProcessEnv, atEnd: AsyncDisposableStack, onFailure: Report) {
  if (env.AWS_ENDPOINT_URL_DYNAMODB) return { endpoint: env.AWS_ENDPOINT_URL_DYNAMODB };
  const onDamage = (message: string) => console.error(`animal-store: ${message}`);
  const store = await startStore(storeFolder(env), { onDamage, onFailure });
  atEnd.defer(store.close);
  return store;
}
