import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionOutput } from "../../../infra/names.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { operations } from "../../../lib/operations.ts";
import { awsEnvironment } from "../../../tools/emulator/store/aws-environment.ts";
import { readStack } from "../../../tools/emulator/template/template.ts";
import { synthesize } from "../../../tools/local/synthesize.ts";
import { authorizerEvent, exampleEvent } from "../../support/event.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import { functionOf } from "../../support/function-of.ts";
import { PATIENCE } from "../../support/preload.ts";
import { startTestStore } from "../../support/test-store.ts";
import { requestId, runInstance } from "./instance.ts";

/** An event for each function, what it reports, also when its table does not respond. No pet has the id. */
const cases = [
  ...operations.map((operation) => ({
    id: operation.id,
    event: exampleEvent(operation),
    result: { response: { statusCode: "params" in operation ? 404 : operation.success.status } },
    timeoutMs: 1500, // It responds 0.5 s before.
    withoutTable: { response: { statusCode: 503, headers: { "Retry-After": "1" } } },
    message: { apiRequestId: exampleEvent(operation).requestContext.requestId },
  })),
  {
    id: "authorize",
    event: authorizerEvent(`Bearer ${generateApiKey("staging")}`),
    result: { response: { principalId: "unknown" } },
    timeoutMs: 6000, // Its client gives up after about 3.1 s.
    withoutTable: { error: { errorMessage: "The keys cannot be read." } },
    message: {}, // without the request, which the access log names
  },
];

/** Runs the bundles under AWS's own runtime. Prints what works. @throws Error when something does not work */
export async function testRuntime(): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-runtime-"));
  await using assembly = await mkdtempDisposable(join(tmpdir(), "animal-store-runtime-"));
  await synthesize(assembly.path);
  console.log("Installing aws-lambda-ric, which takes minutes, because a part of it is compiled ...");
  const manifest = { dependencies: { "aws-lambda-ric": "4.0.2" }, allowScripts: { "aws-lambda-ric": true } };
  writeFileSync(join(folder.path, "package.json"), JSON.stringify(manifest));
  const install = ["install", "--ignore-scripts=false", "--no-audit", "--no-fund"];
  execFileSync("npm", install, { cwd: folder.path, stdio: "inherit" });
  const runtime = join(folder.path, "node_modules/aws-lambda-ric/index.mjs");
  const store = await startTestStore(assembly.path);
  const proxy = await startFaultProxy(store.endpoint);
  const stack = readStack(assembly.path, servedStackName);
  for (const { id, event, result, timeoutMs, withoutTable, message } of cases) {
    console.log(`${id}: it starts, responds, reports an error of its start, and responds without its table`);
    const found = functionOf(stack, functionOutput(id));
    const environment = { ...awsEnvironment({ ...store, endpoint: proxy.endpoint }), ...found.environment };

    await proxy.set(undefined);
    const patient = { ...found, environment: { ...environment, NODE_OPTIONS: PATIENCE } };
    const calls = {};
    const onStart = () => void Object.assign(calls, proxy.attempts());
    const { reports } = await runInstance(runtime, patient, { event, onStart });
    assert.partialDeepStrictEqual(reports, result);
    assert.notDeepEqual(calls, {}, "It asked for an event before it called its table.");

    const unset = await runInstance(runtime, { ...found, environment: {} });
    assert.match(unset.reports["init/error"].errorMessage, /^The environment variable \w+ is not set\.$/);

    await proxy.set("delay"); // The table does not respond.
    const early = await runInstance(runtime, { ...found, environment }, { event, timeoutMs });
    assert.partialDeepStrictEqual(early.reports, withoutTable);
    assert.partialDeepStrictEqual(JSON.parse(early.lines[0] ?? ""), { level: "ERROR", requestId, message });
  }

  console.log("What AWS's runtime logs when a function throws, rejects without a handler, and exits");
  // The queries of docs/incidents.md rely on it. The code of this project prevents such failures.
  const fail = (name: string) =>
    runInstance(runtime, { code: import.meta.dirname, handler: `failures.${name}`, environment: {} });
  const thrown = await fail("thrown");
  const message = { errorType: "Error", errorMessage: "thrown" };
  assert.partialDeepStrictEqual(thrown.reports, { error: message });
  assert.partialDeepStrictEqual(JSON.parse(thrown.lines.join("\n")), { level: "ERROR", requestId, message });

  const rejected = await fail("rejected");
  assert.deepEqual([rejected.reports, rejected.exitCode], [{}, 1]);
  assert.ok(rejected.lines.includes("Error: unhandled"));
  assert.ok(rejected.lines.every((line) => !line.startsWith("{")));

  assert.deepEqual(await fail("exit"), { reports: {}, lines: [], exitCode: 1 });
  console.log("passed");
}
