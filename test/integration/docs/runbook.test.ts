import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { DynamoDBClient, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { expect, it, jest } from "@jest/globals";
import { readStack } from "../../../infra/assembly/template.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { generateApiKey, hashApiKey, keyIdOf } from "../../../lib/api-key.ts";
import { createHandler } from "../../../lib/http/handler.ts";
import { getPet } from "../../../lib/operations.ts";
import { formatAccessLog } from "../../../local/gateway/context.ts";
import { context, requestEvent } from "../../support/event.ts";
import { matches } from "../../support/insights.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { readResources } from "../../support/resources.ts";

const { TEST_ASSEMBLY = "" } = process.env;
const docs = new URL("../../../docs/", import.meta.url);
const runbook = ["incidents.md", "deployment.md"]
  .map((file) => readFileSync(new URL(file, docs), "utf8"))
  .join("");
const [, section = ""] = runbook.split("\n## Why did this request fail?\n");
const [definitions = "", queries = ""] = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(
  ([, block]) => block,
);

const { accessLogFormat, outputs } = readStack(TEST_ASSEMBLY, servedStackName);
const logGroups = readResources(TEST_ASSEMBLY, servedStackName)
  .find("Logs::LogGroup")
  .map(({ id }) => `stack-${id}-AbC123`);

/** Runs shell commands of the runbook without AWS; returns the queries that they start. */
function queriesOf(commands: string) {
  const aws = `aws() { if [ "$2" = start-query ]; then printf '%s\\0' "$@" >&3; else echo '${logGroups.join("\t")}'; fi; }
    jq() { :; }`;
  const script = `${aws}\n${definitions.replace(/^why .*/m, "")}\n${commands}`;
  const { output, status } = spawnSync("bash", ["-euc", script], {
    env: { ...process.env, STACK: "stack" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  });
  expect(status).toBe(0);
  const started = (output[3] ?? "").split("logs\0start-query\0").slice(1);
  return started.map((query) => {
    const args = query.split("\0");
    const groups = args.slice(1, args.indexOf("--start-time"));
    return { groups, query: args[args.indexOf("--query-string") + 1] ?? "" };
  });
}

it("computes the ID of a leaked key as `npm run keys` shows it", () => {
  const [, command = ""] = /^ *read -rs KEY; (echo .*?);/m.exec(runbook) ?? [];
  const KEY = generateApiKey("staging");
  const { stdout } = spawnSync("bash", ["-c", command], { env: { ...process.env, KEY }, encoding: "utf8" });
  expect(stdout).toBe(`${keyIdOf(hashApiKey(KEY))}\n`);
});

it("names only outputs that a stage has, as the other documents do", () => {
  const texts = globSync("**/*.md", { cwd: docs }).map((file) => readFileSync(new URL(file, docs), "utf8"));
  const named = texts.join().match(/[\w{}]+(FunctionName|TableName|TopicArn)\b/g) ?? [];
  expect(named).not.toEqual([]);
  expect(Object.keys(outputs)).toEqual(expect.arrayContaining(named));
});

it("asks the access log for fields that it has", () => {
  const fields = Object.keys(JSON.parse(accessLogFormat));
  const found = [...runbook.matchAll(/query AccessLog \d+ '([^']+)'/g)].map(([, query = ""]) => query);
  const asked = found.flatMap((query) => [...query.matchAll(/(?:fields|filter|by|,)\s+(\w+)/g)]);
  expect(asked.length).toBeGreaterThan(found.length);
  for (const [, name] of asked) expect(fields).toContain(name);
});

it("copies a restored table, or a part of it", async () => {
  const [source, target] = [(await createOwnTables()).pets, (await createOwnTables()).pets];
  const client = new DynamoDBClient({});
  const items = Array.from({ length: 60 }, (_, n) => ({
    id: { N: String(n) },
    categoryId: { N: String(2n ** 63n - BigInt(n)) },
  }));
  for (const Item of items) await client.send(new PutItemCommand({ TableName: source, Item }));
  const [copy = ""] = /^copy\(\) \{.*?^\}$/ms.exec(runbook) ?? [];
  const [, condition = ""] = /copy "\$TABLE" "\$TABLE-restored" ('.*')$/m.exec(runbook) ?? [];
  for (const [options, expected] of [
    [condition.replace("<id>", "40"), items.slice(41)],
    ["", items],
  ] as const) {
    const script = `npx() { "$@"; }\n${copy}\ncopy ${source} ${target} ${options}`;
    const { status, stdout } = spawnSync("bash", ["-euc", script], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, `${expected.length} items copied.\n`]);
    const { Items = [] } = await client.send(new ScanCommand({ TableName: target }));
    expect(Items.toSorted((a, b) => Number(a.id?.N) - Number(b.id?.N))).toEqual(expected);
  }
});

const request = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef";
const invocation = "aec7a529-47f9-4090-be01-c9ed91bf83cf";
const platform = (type: string, record: object) =>
  JSON.stringify({ time: "2026-07-09T06:05:50.581Z", type: `platform.${type}`, record });
/** As the runtime writes what a function logs. `npm run test:long -- runtime` checks this form. */
const logged = (level: string, message: unknown) =>
  JSON.stringify({ timestamp: "2026-07-09T06:05:50.581Z", level, requestId: invocation, message });

/** The line of lib/log.ts about a request that failed. */
async function failureLine(): Promise<string> {
  const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
  const event = requestEvent({ path: { petId: "1" } });
  event.requestContext.requestId = request;
  await createHandler(getPet, () => Promise.reject(new Error("secret")))(event, context);
  return logged("ERROR", error.mock.calls[0]?.[0]);
}

/** Metrics are left out. The fields of platform events are from the Lambda guide, "Telemetry API event schema". */
const events = {
  "access log": formatAccessLog(accessLogFormat, {
    requestId: request,
    status: 503,
    "integration.requestId": invocation,
  }),
  "access log of another": formatAccessLog(accessLogFormat, { status: 200 }),
  failure: await failureLine(),
  throw: logged("ERROR", { errorType: "Error", errorMessage: "secret", stackTrace: ["Error: secret"] }),
  information: logged("INFO", "text"),
  // Recorded in `npm run test:long -- runtime`, as is `throw`. See also aws/aws-lambda-base-images#392.
  "crash, line 1": "file:///var/task/index.js:4",
  "crash, line 2": "    at async ignition (file:///var/runtime/index.mjs:1636:5)",
  start: platform("start", { requestId: invocation, version: "41" }),
  timeout: platform("report", { requestId: invocation, status: "timeout" }),
  "error report": platform("report", { requestId: invocation, status: "error" }),
  "another error": platform("report", { requestId: "other", status: "error" }),
  success: platform("report", { requestId: "other", status: "success" }),
  // Without an id: the instance had no event yet.
  "failed start": platform("initReport", { phase: "init", status: "failure" }),
};

const [, failuresOfDay = "", errorsOfFunction = ""] = /(.*)(^query ListPets.*)/ms.exec(queries) ?? [];
const [reports = ""] = /^query Logs [^`]*/m.exec(runbook) ?? [];
it.each([
  ["why, of a request", `why ${request}`, /./, "access log/failure"],
  ["why, of an invocation", `why ${invocation}`, /./, "failure/throw/information/start/timeout/error report"],
  ["all failures of a day", failuresOfDay, /AccessLog/, "access log"],
  [
    "all errors of one function",
    errorsOfFunction,
    /ListPetsLogs/,
    "failure/throw/crash, line 1/crash, line 2/timeout/error report/another error/failed start",
  ],
  ["the reports of all functions", reports, /^(?!.*AccessLog)/, "timeout/error report/another error/success"],
])("the runbook's query finds what it should: %s", (_name, commands, groups, expected) => {
  const [started, ...others] = queriesOf(commands);
  expect([started?.groups, others]).toEqual([logGroups.filter((name) => groups.test(name)), []]);
  expect(started?.groups).not.toEqual([]);
  const found = Object.entries(events).filter(([, event]) => matches(started?.query ?? "", event));
  expect(found.map(([name]) => name).join("/")).toBe(expected);
});
