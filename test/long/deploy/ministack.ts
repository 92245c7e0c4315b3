import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { listen } from "../../support/listen.ts";

/** The Python packages of a run. */
export const PACKAGES = ["ministack==1.5.33", "cfn-lint==1.58.0"];

export const REGION = "us-east-1";

/**
 * Starts MiniStack, an emulator of AWS, on 127.0.0.1; the functions run as processes of the Node that runs this.
 *
 * @returns the environment of an AWS client that calls it; `using` stops it
 */
export async function startMiniStack(tools: string, folder: string) {
  const { origin, close } = await listen(createServer());
  await close();
  const { port } = new URL(origin); // free
  const endpoint = `http://localhost:${port}`;
  const home = join(folder, "home");
  mkdirSync(home);
  const logFile = join(folder, "ministack.log");
  const log = openSync(logFile, "w");
  const child = spawn(join(tools, "ministack"), {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      TMPDIR: home,
      GATEWAY_PORT: port,
      BIND_HOST: "127.0.0.1",
      LAMBDA_EXECUTOR: "local",
    },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  await eventually(
    () => fetch(`${endpoint}/_ministack/health`).catch(() => undefined),
    (response) => {
      const end = readFileSync(logFile, "utf8").slice(-2000);
      assert.ok(response?.ok, `MiniStack does not start:\n${end}`);
    },
  );
  return {
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: REGION,
      AWS_DEFAULT_REGION: REGION,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      HOME: home,
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

/**
 * Serves an API of MiniStack under an address of its own, which DNS and TLS provide in AWS. MiniStack selects the
 * API by host name, and the links in its responses contain that name.
 *
 * @param endpoint of MiniStack
 * @param deployedUrl the stack's output BaseUrl
 * @returns the base URL
 */
export async function openEntrance(endpoint: string, deployedUrl: string): Promise<string> {
  const { port } = new URL(endpoint);
  const host = `${new URL(deployedUrl).host.split(".")[0]}.execute-api.localhost:${port}`;
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const forwarded = request(
      { host: "127.0.0.1", port, method, path: url, headers: { ...headers, host } },
      (response) => {
        const own = `http://${incoming.headers.host}`;
        const link = response.headers.link?.toString().replaceAll(`https://${host}`, own);
        outgoing.writeHead(response.statusCode ?? 502, { ...response.headers, ...(link && { link }) });
        response.pipe(outgoing);
      },
    );
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return `${(await listen(server.unref())).origin}/v1`;
}
