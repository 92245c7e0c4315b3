import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("../../local/start.ts", import.meta.url));

/** What `npm start` runs, as a process of its own. */
export interface LocalService {
  process: ChildProcess;
  baseUrl: string;
  key: string;
  /** everything it has printed so far, on both streams */
  output(): string;
  /** Sends a signal and waits for the end; returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts the process and collects what it prints; it may end by itself. */
export function spawnService(environment: Record<string, string>) {
  const child = spawn(process.execPath, [entry], {
    env: { ...process.env, NODE_OPTIONS: "", AWS_ENDPOINT_URL_DYNAMODB: "", PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { TEST_LOGS } = process.env;
  const log = TEST_LOGS && createWriteStream(join(TEST_LOGS, `service-${child.pid}.log`));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
      if (log) log.write(chunk);
    });
  }
  return { child, output: () => output, ended: once(child, "close").then(([code]) => code as number | null) };
}

/**
 * Starts the local service on a free port and waits until it serves.
 *
 * @param environment DATA_DIR and what else `npm start` reads
 * @throws Error with its output when it ends instead
 */
export async function startService(environment: Record<string, string>): Promise<LocalService> {
  const { child, output, ended } = spawnService(environment);
  const value = (label: string) => new RegExp(`^${label}: (\\S+)$`, "m").exec(output())?.[1];
  const ready = new Promise<void>((resolve) => {
    child.stdout?.on("data", () => output().includes("\ncurl ") && resolve());
  });
  const early = ended.then((code) => {
    throw new Error(`The service ended with ${code}. The end of its log:\n${output().slice(-2000)}`);
  });
  await Promise.race([ready, early]);
  early.catch(() => undefined);
  return {
    process: child,
    baseUrl: value("Base URL") ?? "",
    key: value("API key") ?? "",
    output,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
}
