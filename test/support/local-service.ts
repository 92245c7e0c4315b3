import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PATIENCE } from "./preload.ts";
import { shared } from "./shared.ts";

const launcher = fileURLToPath(new URL("../../tools/node.sh", import.meta.url));
const start = fileURLToPath(new URL("../../tools/local/start.ts", import.meta.url));

interface Command {
  entry?: string;
  args?: string[];
  cwd?: string;
  /** a command that runs it */
  prefix?: string[];
}

/** What `npm start` runs, as a process of its own. `await using` stops it. */
export type LocalService = Awaited<ReturnType<typeof startService>>;

/** Starts the process and collects what it prints; it may end by itself. */
export function spawnService(
  environment: Record<string, string>,
  nodeOptions: string[] = [],
  { entry = start, args = [], cwd = process.cwd(), prefix = [] }: Command = {},
) {
  const options = [PATIENCE, ...nodeOptions];
  const [command = "", ...all] = [...prefix, "sh", launcher, ...options, entry, ...args];
  const child = spawn(command, all, {
    cwd,
    env: { ...process.env, NODE_OPTIONS: "", AWS_ENDPOINT_URL_DYNAMODB: "", PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const log = shared.logs && createWriteStream(join(shared.logs, `service-${child.pid}.log`));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
      if (log) log.write(chunk);
    });
  }
  const ended = once(child, "close").then(([code, signal]): number | NodeJS.Signals => code ?? signal);
  return { child, output: () => output, ended };
}

/** Starts the local service on a free port, and waits until it serves. @throws Error with its output when it ends instead */
export async function startService(
  environment: Record<string, string>,
  nodeOptions?: string[],
  command?: Command,
) {
  const { child, output, ended } = spawnService(environment, nodeOptions, command);
  const value = (label: string) => new RegExp(`^${label}=(\\S+)$`, "m").exec(output())?.[1];
  const ready = new Promise<void>((resolve) => {
    child.stdout?.on("data", () => /^Docs: .+\n/m.test(output()) && resolve());
  });
  const early = ended.then((code) => {
    throw new Error(`The service ended with ${code}. The end of its log:\n${output().slice(-2000)}`);
  });
  await Promise.race([ready, early]);
  early.catch(() => undefined);
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return ended;
  };
  return {
    process: child,
    baseUrl: value("BASE_URL") ?? "",
    key: value("API_KEY") ?? "",
    output,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
