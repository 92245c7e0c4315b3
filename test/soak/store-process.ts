import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";

const dynalite = createRequire(import.meta.url).resolve("dynalite/cli.js");

/** A DynamoDB-compatible server in a process of its own, on disk, always at the same address. */
export interface StoreProcess {
  endpoint: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** @param path folder of its data */
export async function startStoreProcess(path: string): Promise<StoreProcess> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));

  const args = ["--host", "127.0.0.1", "--port", String(port), "--path", path, "--createTableMs", "0"];
  let child: ChildProcess;
  async function restart(): Promise<void> {
    child = spawn(process.execPath, [dynalite, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    if (child.stdout) await once(child.stdout, "data");
  }
  await restart();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    restart,
    async kill() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
