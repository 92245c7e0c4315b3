import { globSync, readFileSync } from "node:fs";
import { expect, it, jest } from "@jest/globals";
import { formatAccessLog } from "../../../emulator/gateway/context.ts";
import { readStack } from "../../../emulator/template/template.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { createHandler } from "../../../lib/http/handler.ts";
import { listPets } from "../../../lib/operations/list-pets.ts";
import { operations } from "../../../lib/operations.ts";
import { select } from "../../support/cloudwatch.ts";
import { context, requestEvent } from "../../support/event.ts";
import type { Json } from "../../support/json.ts";
import { readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

/**
 * Returns whether a log event meets a condition of a CloudWatch Logs Insights query: `=`, `like` or `not like`. A comparison
 * with a field that an event does not have is false.
 *
 * @throws Error when the condition is anything else
 */
function meets(event: string, condition: string): boolean {
  const [, path = "", text, not, pattern] =
    /^([\w.@]+) (?:= ["']([^"']*)["']|(not )?like \/(.*)\/)$/.exec(condition) ?? [];
  if (!path) throw new Error(`The condition is not understood: ${condition}`);
  // Any event has `@message`. Other fields are those of a JSON event.
  const json = event.startsWith("{") ? JSON.parse(event) : {};
  const value: string | undefined = path === "@message" ? event : select(path, json)?.toString();
  if (value === undefined) return false;
  return pattern === undefined ? value === text : new RegExp(pattern).test(value) !== Boolean(not);
}

/** Returns whether a log event passes every `filter` of a query, each of which has conditions joined by `or`. */
function matches(query: string, event: string): boolean {
  const filters = query.split(/\s\|\s/).flatMap((part) => /^\s*filter (.*)/.exec(part)?.[1] ?? []);
  return filters.every((filter) => filter.split(/\s+or\s+/).some((condition) => meets(event, condition)));
}

const { accessLogFormat } = readStack(shared.assembly, servedStackName);
const { find, only } = readResources(shared.assembly, servedStackName);
const folder = `${servedStackName}/`;
const queries = new Map<string, Json>(
  find("Logs::QueryDefinition").map((query) => [query.Name.replace(folder, ""), query]),
);
const accessLog = only("ApiGateway::Stage").AccessLogSetting.DestinationArn.split(":").pop();
const functionLogs: string[] = find("Lambda::Function").map(({ LoggingConfig }) => LoggingConfig.LogGroup);

it("are named by the documents", () => {
  const docs = new URL("../../../docs/", import.meta.url);
  const texts = globSync("*.md", { cwd: docs }).map((file) => readFileSync(new URL(file, docs), "utf8"));
  expect([...queries.keys()].filter((name) => !texts.join().includes(`\`${name}\``))).toEqual([]);
});

it("ask the access log for fields that it has", () => {
  const fields = Object.keys(JSON.parse(accessLogFormat));
  for (const { QueryString, LogGroupNames } of queries.values()) {
    if (LogGroupNames.includes(functionLogs[0])) continue;
    const asked = [...QueryString.matchAll(/(?:fields|filter|by|,)\s+(\w+)/g)].map(([, name]) => name);
    expect(fields).toEqual(expect.arrayContaining(asked));
  }
});

const request = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef";
const extended = "XxxXXXxxXXXXXxx=";
const invocation = "aec7a529-47f9-4090-be01-c9ed91bf83cf";
const platform = (type: string, record: object) =>
  JSON.stringify({ time: "2026-07-09T06:05:50.581Z", type: `platform.${type}`, record });
/** As the runtime writes what a function logs. `npm run test:long -- runtime` checks this form. */
const logged = (level: string, message: unknown) =>
  JSON.stringify({ timestamp: "2026-07-09T06:05:50.581Z", level, requestId: invocation, message });

/** The line of lib/log.ts about a request that failed. */
async function failureLine(): Promise<string> {
  const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
  const event = requestEvent();
  Object.assign(event.requestContext, { requestId: request, extendedRequestId: extended });
  await createHandler(listPets, () => Promise.reject(new Error("secret")))(event, context);
  return logged("ERROR", error.mock.calls[0]?.[0]);
}

/** A line of the access log for each operation. */
const callsOf = (caller: string, variables: object) =>
  Object.fromEntries(
    operations.map(({ id, method: httpMethod, path: resourcePath }) => [
      `${id} of ${caller}`,
      formatAccessLog(accessLogFormat, { status: 200, httpMethod, resourcePath, ...variables }),
    ]),
  );
const deprecated = operations.filter((operation) => "deprecation" in operation);
const clients = deprecated.map(({ id }) => `${id} of a client`);

/** Metrics are left out. The fields of platform events are from the Lambda guide, "Telemetry API event schema". */
const events = {
  "access log": formatAccessLog(accessLogFormat, {
    requestId: request,
    extendedRequestId: extended,
    status: 503,
    "integration.requestId": invocation,
  }),
  "access log of another": formatAccessLog(accessLogFormat, { status: 200, "authorizer.keyId": "key_1" }),
  "access log of a refusal": formatAccessLog(accessLogFormat, { status: 401 }),
  ...callsOf("a client", { "authorizer.keyId": "key_2" }),
  ...callsOf("nobody", {}), // a request without a key
  failure: await failureLine(),
  throw: logged("ERROR", { errorType: "Error", errorMessage: "secret" }),
  information: logged("INFO", "text"),
  // Recorded in `npm run test:long -- runtime`, as is `throw`. See also aws/aws-lambda-base-images#392.
  "crash, line 1": "file:///var/task/index.cjs:4",
  "crash, line 2": "    at async ignition (file:///var/runtime/index.mjs:1636:5)",
  start: platform("start", { requestId: invocation, version: "41" }),
  timeout: platform("report", { requestId: invocation, status: "timeout" }),
  "error report": platform("report", { requestId: invocation, status: "error" }),
  "another error": platform("report", { requestId: "other", status: "error" }),
  success: platform("report", { requestId: "other", status: "success" }),
  // Without an id: the instance had no event yet.
  "failed start": platform("initReport", { phase: "init", status: "failure" }),
};

const names = Object.keys(events);
const failures = names.slice(names.indexOf("failure"));
const all = [accessLog, ...functionLogs];
type Expectation = [name: string, parameters: Record<string, string>, logs: string[], expected: string[]];
it.each<Expectation>([
  ["Request", { id: request }, all, ["access log", "failure"]],
  ["Request", { id: extended }, all, ["access log", "failure"]],
  [
    "Request",
    { id: invocation },
    all,
    ["failure", "throw", "information", "start", "timeout", "error report"],
  ],
  ["FailedRequests", {}, [accessLog], ["access log"]],
  ["SlowRequests", {}, [accessLog], names],
  ["RefusedRequests", {}, [accessLog], ["access log of a refusal"]],
  ["RequestsByKey", {}, [accessLog], names.filter((name) => /^access log|^\w+ of /.test(name))],
  ["RequestsOfKey", { keyId: "key_1" }, [accessLog], ["access log of another"]],
  [
    "FailedInvocations",
    {},
    functionLogs,
    failures.filter((name) => !/^(information|start|success)$/.test(name)),
  ],
  ["ColdStarts", {}, functionLogs, ["timeout", "error report", "another error", "success"]],
  ...deprecated.slice(0, 1).map((): Expectation => ["DeprecatedRequests", {}, [accessLog], clients]),
])("%s finds what it should with %j", (name, parameters, logs, expected) => {
  const { LogGroupNames, QueryString, Parameters } = queries.get(name);
  expect(LogGroupNames.toSorted()).toEqual(logs.toSorted());
  expect(Parameters).toEqual(Object.keys(parameters).map((Name) => ({ Name })));
  // CloudWatch Logs guide, "Using saved queries with parameters": a value brings its quotes.
  const query = QueryString.replaceAll(/\{\{(\w+)\}\}/g, (_: string, one: string) => `"${parameters[one]}"`);
  const found = Object.entries(events).filter(([, event]) => matches(query, event));
  expect(found.map(([event]) => event)).toEqual(expected);
});
