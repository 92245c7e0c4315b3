import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** An HTTP server in a process of its own. */
export interface Server {
  pid: number;
  /** base URL of the operations */
  url: string;
  /** the API key that its requests need */
  key?: string;
  stop(): Promise<void>;
}

const path = (script: string) => fileURLToPath(new URL(script, import.meta.url));

/**
 * Runs a command and waits until what it prints matches the pattern.
 *
 * @throws Error when it ends instead
 */
async function launch([command, args]: [string, string[]], environment: NodeJS.ProcessEnv, pattern: RegExp) {
  const child = spawn(command, args, {
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
    return { pid: child.pid as number, values: match.slice(1) as string[], stop };
  }
  throw new Error(`${command} ${args.join(" ")} ended:\n${output}`);
}

/** The local service as `npm start` runs it, on an embedded store in the folder. */
export async function startLocalService(folder: string): Promise<Server> {
  const environment = { DATA_DIR: join(folder, "service"), PORT: "0", AWS_ENDPOINT_URL_DYNAMODB: "" };
  const pattern = /^Base URL: (\S+)\nAPI key: (\S+)\n/m;
  const { pid, values, stop } = await launch(
    ["sh", [path("../../local/launch.sh"), path("../../local/start.ts")]],
    environment,
    pattern,
  );
  const [url = "", key = ""] = values;
  return { pid, url, key, stop };
}

/** The bare server with the default settings of Node, on an embedded store in the folder. */
export async function startBareServer(folder: string, assembly: string): Promise<Server> {
  const { pid, values, stop } = await launch(
    [process.execPath, [path("bare.ts"), join(folder, "bare"), assembly]],
    {},
    /^(http\S+)\n/,
  );
  return { pid, url: values[0] ?? "", stop };
}
