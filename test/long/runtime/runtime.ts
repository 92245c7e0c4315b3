import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { table } from "../../../bench/report.ts";
import { synthesize } from "../../../infra/assembly/synthesize.ts";
import { functionOf, readStack } from "../../../infra/assembly/template.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { operations } from "../../../lib/operations.ts";
import { authorizerEvent, exampleEvent, requestEvent } from "../../support/event.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import { preload } from "../../support/preload.ts";
import { startTestStore } from "../../support/test-store.ts";
import { type Code, startInstance } from "./instance.ts";

/** On a busy machine, the 300 ms of the first call (lib/warm-up.ts) can end before it has reached the table. */
const PATIENT = preload(
  "const { timeout } = AbortSignal; AbortSignal.timeout = (ms) => timeout.call(AbortSignal, 100 * ms);",
);
const REQUEST_ID = requestEvent().requestContext.requestId;

/** An event for every function, and a part of its result: no pet has the id. */
const cases: Record<string, { event: unknown; result: object }> = {
  ...Object.fromEntries(
    operations.map((operation) => {
      const result = { statusCode: "params" in operation ? 404 : operation.success.status };
      return [operation.id, { event: exampleEvent(operation, "1"), result }];
    }),
  ),
  authorize: {
    event: authorizerEvent(`Bearer ${generateApiKey("staging")}`),
    result: { principalId: "unknown" },
  },
};

/** Installs AWS's runtime, which compiles a part of it; returns the path of its program. */
async function installRuntime(folder: string): Promise<string> {
  await cp(join(import.meta.dirname, "tools/package.json"), join(folder, "package.json"));
  console.log("Installing aws-lambda-ric, which takes minutes ...");
  const args = ["install", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }).catch((error) => {
    throw new Error(`npm install failed:\n${error.stderr.slice(-2000)}`);
  });
  return join(folder, "node_modules/aws-lambda-ric/index.mjs");
}

type Proxy = Awaited<ReturnType<typeof startFaultProxy>>;
/** The checks of one function, by what they prove. */
type Checks = Record<string, () => Promise<void>>;

function checksOf(
  runtime: string,
  fn: Code,
  proxy: Proxy,
  { event, result }: { event: unknown; result: object },
): Checks {
  return {
    "finds the handler, and runs it": async () => {
      await proxy.set(undefined);
      await using instance = await startInstance(runtime, fn);
      assert.ok("next" in instance.first, "It did not ask for an event.");
      const { outcome } = await instance.invoke(event);
      assert.partialDeepStrictEqual(outcome, { report: "response", body: result });
    },
    "awaits a first call of its table before it asks for an event": async () => {
      await proxy.set(undefined);
      const environment = { ...fn.environment, NODE_OPTIONS: PATIENT };
      await using _ = await startInstance(runtime, { ...fn, environment });
      assert.ok(proxy.requests() > 0, "The table got no call.");
    },
    "reports an error of its start": async () => {
      await using instance = await startInstance(runtime, { ...fn, environment: {} });
      assert.ok("report" in instance.first && instance.first.report === "init/error");
      assert.match(instance.first.body.errorMessage, /^The environment variable \w+ is not set\.$/);
    },
    "responds early when the table does not respond, with the ids in its log": async () => {
      await proxy.set("delay");
      await using instance = await startInstance(runtime, fn);
      // An operation responds 0.5 s before its timeout, the authorizer when the client gives up, after 3.5 s.
      const { requestId, outcome } = await instance.invoke(event, "statusCode" in result ? 1500 : 6000);
      assert.ok("report" in outcome, "It ended.");
      if (outcome.report === "error") assert.equal(outcome.body.errorMessage, "The keys cannot be read.");
      else assert.partialDeepStrictEqual(outcome.body, { statusCode: 503, headers: { "Retry-After": "1" } });
      const [line = ""] = await instance.lines();
      assert.partialDeepStrictEqual(JSON.parse(line), { level: "ERROR", requestId });
      // The line of the authorizer has no request, which the access log names.
      if (outcome.report === "response") assert.equal(JSON.parse(line).message.apiRequestId, REQUEST_ID);
    },
  };
}

/** What the runbook's queries rely on when a function fails in a way that the code of this project prevents. */
function checksOfFailures(runtime: string, trivial: Code): Checks {
  const fail = async (fault: string) => {
    await using instance = await startInstance(runtime, trivial);
    const { requestId, outcome } = await instance.invoke({ fault });
    return { requestId, outcome, lines: await instance.lines() };
  };
  return {
    "a thrown error has a line with the id of the invocation": async () => {
      const { requestId, outcome, lines } = await fail("throw");
      assert.partialDeepStrictEqual(outcome, { report: "error", body: { errorMessage: "thrown" } });
      assert.equal(lines.length, 1);
      const message = { errorType: "Error", errorMessage: "thrown" };
      assert.partialDeepStrictEqual(JSON.parse(lines[0] ?? ""), { level: "ERROR", requestId, message });
    },
    "an unhandled rejection ends the instance, with raw lines only": async () => {
      const { outcome, lines } = await fail("unhandled rejection");
      assert.deepEqual(outcome, { ended: 1 });
      assert.ok(lines.includes("Error: unhandled"));
      assert.ok(lines.every((line) => !line.startsWith("{")));
    },
    "process.exit ends the instance without a line": async () => {
      const { outcome, lines } = await fail("exit");
      assert.deepEqual([outcome, lines], [{ ended: 1 }, []]);
    },
  };
}

/**
 * Runs the bundles under AWS's own runtime. Prints a table of the checks.
 *
 * @throws Error when a check fails
 */
export async function testRuntime(): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-runtime-"));
  const assembly = join(folder.path, "assembly");
  await mkdir(assembly);
  const [runtime] = await Promise.all([installRuntime(folder.path), synthesize(assembly, [servedStackName])]);
  const store = await startTestStore(assembly);
  const proxy = await startFaultProxy(store.endpoint);
  const aws = {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
  };
  const trivial: Code = { code: import.meta.dirname, handler: "trivial.handler", environment: {} };
  const stack = readStack(assembly, servedStackName);
  const codeOf = (id: string): Code => {
    const found = functionOf(stack, id);
    return { ...found, environment: { ...aws, ...found.environment } };
  };

  const rows: string[][] = [];
  const failures: string[] = [];
  const run = async (name: string, checks: Checks) => {
    for (const [what, check] of Object.entries(checks)) {
      try {
        await check();
        rows.push([`${name} ${what}`, "yes"]);
      } catch (error) {
        rows.push([`${name} ${what}`, "no"]);
        failures.push(`${name} ${what}: ${(error as Error).message}`);
      }
    }
  };
  try {
    for (const [id, expected] of Object.entries(cases))
      await run(id, checksOf(runtime, codeOf(id), proxy, expected));
    await run("AWS's runtime:", checksOfFailures(runtime, trivial));
  } finally {
    await proxy.close();
    await store.close();
  }
  console.log(table(["Check", "Result"], rows));
  assert.deepEqual(failures, []);
}
