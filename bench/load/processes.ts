import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A server in a process of its own. */
export interface Running {
  /** where it serves the operations */
  url: string;
  stop(): Promise<void>;
}

/** Starts a script and waits for a line of what it prints. */
async function launch(script: string, args: string[], environment: NodeJS.ProcessEnv, pattern: RegExp) {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  const ended = once(child, "close");
  const found = new Promise<RegExpExecArray>((resolve) => {
    child.stdout?.on("data", (chunk) => {
      output += chunk;
      const match = pattern.exec(output);
      if (match) resolve(match);
    });
  });
  const failed = ended.then(() => {
    throw new Error(`${script} ended:\n${output}`);
  });
  const match = await Promise.race([found, failed]);
  failed.catch(() => undefined);
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return { match, stop };
}

/** The local service as `npm start` runs it, with its key, on a store of its own in the folder. */
export async function startService(folder: string): Promise<Running & { key: string }> {
  const environment = { DATA_DIR: join(folder, "service"), PORT: "0", AWS_ENDPOINT_URL_DYNAMODB: "" };
  const pattern = /^Base URL: (\S+)\nAPI key: (\S+)\n/m;
  const { match, stop } = await launch("../../local/start.ts", [], environment, pattern);
  return { url: match[1] ?? "", key: match[2] ?? "", stop };
}

/** The bare server, on a store of the same kind. */
export async function startBare(folder: string, table: string, assembly: string): Promise<Running> {
  const args = [join(folder, "bare"), assembly];
  const store = await launch("store.ts", args, {}, /^(http\S+)\n/);
  const environment = {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "bench",
    AWS_SECRET_ACCESS_KEY: "bench",
    AWS_ENDPOINT_URL_DYNAMODB: store.match[1],
  };
  const bare = await launch("bare.ts", [table], environment, /^(\d+)\n/);
  const stop = async () => {
    await bare.stop();
    await store.stop();
  };
  return { url: `http://127.0.0.1:${bare.match[1]}`, stop };
}
