import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout } from "node:timers/promises";

const TIMEOUT_MS = 60_000;

export type Service = Awaited<ReturnType<typeof launch>>;

/**
 * Starts a service in a process of its own, and waits until it lists the pets.
 *
 * @param command serves the API on PORT
 * @param environment in addition to that of this process
 * @param folder its working directory
 * @param key an API key that it accepts
 * @returns how many seconds that took, and `memory`, which returns the resident memory or its peak in MiB, or NaN on
 *   systems other than Linux
 * @throws Error when it ends, or does not list the pets within a minute
 */
export async function launch(command: string[], environment: NodeJS.ProcessEnv, folder: string, key: string) {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();

  const start = performance.now();
  const [program = "", ...args] = command;
  const env = { ...process.env, ...environment, PORT: String(port) };
  const child = spawn(program, args, { cwd: folder, env, stdio: "ignore" });
  const ended = once(child, "close");
  const url = `http://127.0.0.1:${port}/v1`;
  const init = { headers: { authorization: `Bearer ${key}` } };
  let response: Response | undefined;
  // On a busy machine serverless-offline first refuses requests, because a call of its authorizer takes too long.
  while (!response?.ok && child.exitCode === null && performance.now() < start + TIMEOUT_MS) {
    await setTimeout(10);
    response = await fetch(`${url}/pets`, init).catch(() => undefined);
  }
  if (!response?.ok) {
    child.kill();
    throw new Error(`${command.join(" ")} does not serve: ${response?.status ?? "it ended"}.`);
  }
  return {
    url,
    seconds: (performance.now() - start) / 1000,
    memory: async (field: "VmRSS" | "VmHWM") => {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
      return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1024;
    },
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
