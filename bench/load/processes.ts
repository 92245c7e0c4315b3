import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** An HTTP server in a process of its own. */
export interface Server {
  /** base URL of the operations */
  url: string;
  /** the API key that its requests need */
  key?: string;
  stop(): Promise<void>;
}

/** Starts a script and waits until what it prints matches the pattern. @throws Error when it ends instead */
async function launch(script: string, args: string[], environment: NodeJS.ProcessEnv, pattern: RegExp) {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  let output = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += chunk;
    const match = pattern.exec(output);
    if (!match) continue;
    child.stdout.resume();
    return { values: match.slice(1) as string[], stop };
  }
  throw new Error(`${script} ended:\n${output}`);
}

/** The local service as `npm start` runs it, on an embedded store in the folder. */
export async function startLocalService(folder: string): Promise<Server> {
  const environment = { DATA_DIR: join(folder, "service"), PORT: "0", AWS_ENDPOINT_URL_DYNAMODB: "" };
  const pattern = /^Base URL: (\S+)\nAPI key: (\S+)\n/m;
  const { values, stop } = await launch("../../local/start.ts", [], environment, pattern);
  const [url = "", key = ""] = values;
  return { url, key, stop };
}

/** The bare server, on an embedded store in the folder that has a process of its own. */
export async function startBareServer(folder: string, table: string, assembly: string): Promise<Server> {
  const store = await launch("store.ts", [join(folder, "bare"), assembly], {}, /^(http\S+)\n/);
  const environment = {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "bench",
    AWS_SECRET_ACCESS_KEY: "bench",
    AWS_ENDPOINT_URL_DYNAMODB: store.values[0],
  };
  const bare = await launch("bare.ts", [table], environment, /^(http\S+)\n/);
  const stop = async () => {
    await bare.stop();
    await store.stop();
  };
  return { url: bare.values[0] ?? "", stop };
}
