import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { mkdir, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { awsEnvironment } from "../../../emulator/store/aws-environment.ts";
import { readStack } from "../../../emulator/template/template.ts";
import { functionOutput } from "../../../infra/names.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { synthesize } from "../../../infra/synthesize.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { operations } from "../../../lib/operations.ts";
import { authorizerEvent, exampleEvent, requestEvent } from "../../support/event.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import { functionOf } from "../../support/function-of.ts";
import { PATIENCE } from "../../support/preload.ts";
import { startTestStore } from "../../support/test-store.ts";
import { type Code, startInstance } from "./instance.ts";

const REQUEST_ID = requestEvent().requestContext.requestId;

/** An event for every function, and a part of its result: no pet has the id. */
const cases: Record<string, { event: unknown; result: object }> = {
  ...Object.fromEntries(
    operations.map((operation) => {
      const result = { statusCode: "params" in operation ? 404 : operation.success.status };
      return [operation.id, { event: exampleEvent(operation), result }];
    }),
  ),
  authorize: {
    event: authorizerEvent(`Bearer ${generateApiKey("staging")}`),
    result: { principalId: "unknown" },
  },
};

async function testFunction(
  runtime: string,
  fn: Code,
  proxy: Awaited<ReturnType<typeof startFaultProxy>>,
  { event, result }: { event: unknown; result: object },
): Promise<void> {
  {
    await proxy.set(undefined);
    const environment = { ...fn.environment, NODE_OPTIONS: PATIENCE };
    await using instance = await startInstance(runtime, { ...fn, environment });
    assert.ok("next" in instance.first, "It did not ask for an event.");
    assert.notDeepEqual(proxy.requests(), {}, "It asked for an event before it called its table.");
    const { outcome } = await instance.invoke(event);
    assert.partialDeepStrictEqual(outcome, { report: "response", body: result });
  }
  {
    await using instance = await startInstance(runtime, { ...fn, environment: {} });
    assert.ok("report" in instance.first && instance.first.report === "init/error");
    assert.match(instance.first.body.errorMessage, /^The environment variable \w+ is not set\.$/);
  }
  // The table does not respond.
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
}

/** What the queries of docs/incidents.md rely on when a function fails in a way that the code of this project prevents. */
async function testFailures(runtime: string): Promise<void> {
  const fail = async (fault: string) => {
    const trivial = { code: import.meta.dirname, handler: "trivial.handler", environment: {} };
    await using instance = await startInstance(runtime, trivial);
    const { requestId, outcome } = await instance.invoke({ fault });
    return { requestId, outcome, lines: await instance.lines() };
  };
  const thrown = await fail("throw");
  assert.partialDeepStrictEqual(thrown.outcome, { report: "error", body: { errorMessage: "thrown" } });
  assert.equal(thrown.lines.length, 1);
  const { requestId } = thrown;
  const message = { errorType: "Error", errorMessage: "thrown" };
  assert.partialDeepStrictEqual(JSON.parse(thrown.lines[0] ?? ""), { level: "ERROR", requestId, message });

  const rejected = await fail("unhandled rejection");
  assert.deepEqual(rejected.outcome, { ended: 1 });
  assert.ok(rejected.lines.includes("Error: unhandled"));
  assert.ok(rejected.lines.every((line) => !line.startsWith("{")));

  const { outcome, lines } = await fail("exit");
  assert.deepEqual([outcome, lines], [{ ended: 1 }, []]);
}

/**
 * Runs the bundles under AWS's own runtime. Prints what works.
 *
 * @throws Error when something does not work
 */
export async function testRuntime(): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-runtime-"));
  const assembly = join(folder.path, "assembly");
  await mkdir(assembly);
  await synthesize(assembly);
  console.log("Installing aws-lambda-ric, which takes minutes, because a part of it is compiled ...");
  copyFileSync(join(import.meta.dirname, "tools/package.json"), join(folder.path, "package.json"));
  const args = ["install", "--no-audit", "--no-fund"];
  execFileSync("npm", args, { cwd: folder.path, stdio: "inherit" });
  const runtime = join(folder.path, "node_modules/aws-lambda-ric/index.mjs");
  const store = await startTestStore(assembly);
  const proxy = await startFaultProxy(store.endpoint);
  const aws = awsEnvironment({ ...store, endpoint: proxy.endpoint });
  const stack = readStack(assembly, servedStackName);
  try {
    for (const [id, expected] of Object.entries(cases)) {
      console.log(
        `${id}: it starts, responds, reports an error of its start, and responds without its table`,
      );
      const found = functionOf(stack, functionOutput(id));
      await testFunction(
        runtime,
        { ...found, environment: { ...aws, ...found.environment } },
        proxy,
        expected,
      );
    }
    console.log("What AWS's runtime logs when a function throws, rejects without a handler, and exits");
    await testFailures(runtime);
    console.log("passed");
  } finally {
    await proxy.close();
    await store.close();
  }
}
