import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { globSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { basename, dirname, join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import type { Json } from "../../support/json.ts";
import { listen } from "../../support/listen.ts";

/**
 * Starts MiniStack, an emulator of AWS, on 127.0.0.1; the functions run as processes of the Node that runs this.
 *
 * @param program its path
 * @param home an empty folder for its files
 * @returns the environment of an AWS client that calls it; `using` stops it
 */
export async function startMiniStack(program: string, home: string) {
  const { origin, close } = await listen(createServer());
  await close();
  const { port } = new URL(origin); // free
  const logFile = join(home, "ministack.log");
  const log = openSync(logFile, "w");
  const settings = { GATEWAY_PORT: port, BIND_HOST: "127.0.0.1", LAMBDA_EXECUTOR: "local" };
  const child = spawn(program, {
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, TMPDIR: home, ...settings },
    stdio: ["ignore", log, log],
  });
  await eventually(
    () => fetch(`${origin}/_ministack/health`).catch(() => undefined),
    (response) => assert.ok(response?.ok, `MiniStack does not start:\n${readFileSync(logFile, "utf8")}`),
  );
  return {
    environment: {
      AWS_ENDPOINT_URL: origin,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      HOME: home,
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

/**
 * Serves an API of MiniStack, which selects it by a path, under an address of its own.
 *
 * @param deployedUrl the stack's output BaseUrl
 * @returns the base URL
 */
export async function openEntrance(endpoint: string, deployedUrl: string): Promise<string> {
  const { hostname, port } = new URL(endpoint);
  const { host, pathname } = new URL(deployedUrl);
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const path = `/_aws/execute-api/${host.split(".")[0]}${url}`;
    // The links in the responses begin with this protocol and with the host of the request.
    const options = { hostname, port, method, path, headers: { ...headers, "x-forwarded-proto": "http" } };
    const forwarded = request(options, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return (await listen(server.unref())).origin + pathname;
}

/** Changes the template of each stack of an assembly in place. */
export function editTemplates(assembly: string, edit: (template: Json, stack: string) => void): void {
  for (const file of globSync(join(assembly, "*.template.json"))) {
    const template: Json = JSON.parse(readFileSync(file, "utf8"));
    edit(template, basename(file, ".template.json"));
    writeFileSync(file, JSON.stringify(template));
  }
}

/** The type that MiniStack does not support; it refuses a whole template that has it. */
const UNSUPPORTED = "AWS::WAFv2::WebACLAssociation";

/** Removes from an assembly's templates what MiniStack does not support. @returns it, as `stack: type id` */
export function removeUnsupported(assembly: string): string[] {
  const removed: string[] = [];
  editTemplates(assembly, (template, stack) => {
    // In a condition, MiniStack does not replace a pseudo parameter by its value. It creates what has an unknown condition.
    delete template.Conditions;
    for (const [id, { Type, Properties }] of Object.entries<Json>(template.Resources)) {
      const isMetricMath = Type === "AWS::CloudWatch::Alarm" && Properties.Metrics;
      if (Type !== UNSUPPORTED && !isMetricMath) continue;
      delete template.Resources[id];
      removed.push(`${stack}: ${Type} ${id}`);
    }
  });
  return removed;
}
