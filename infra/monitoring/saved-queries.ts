import { Stack } from "aws-cdk-lib";
import { CfnQueryDefinition } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { operations } from "../../lib/operations.ts";
import type { MonitoredResources } from "./stage-alarms.ts";

/** The condition for a request to a deprecated operation; empty if there is none. */
const isDeprecated = operations
  .filter((operation) => "deprecation" in operation)
  .map(({ method, path }) => `route = "${method} ${path}"`)
  .join(" or ");

/** Queries by name, by the logs that they read. `{{name}}` is a parameter; its value is quoted where the query is run. */
const queries = {
  all: {
    Request: `filter requestId = {{id}} or extendedRequestId = {{id}} or message.apiRequestId = {{id}} or message.extendedRequestId = {{id}} or record.requestId = {{id}}
      | fields @timestamp, status, error, authorizerError, integrationStatus, latencyMs, message.error.code, message.error.cause.name, @log,
        @logStream, @message
      | sort @timestamp`,
  },
  access: {
    FailedRequests: `filter status like /^5/
      | fields @timestamp, route, status, error, authorizerError, integrationStatus, latencyMs, requestId, integrationRequestId,
        authorizerRequestId
      | sort @timestamp desc`,
    SlowRequests: `fields @timestamp, route, status, keyId, latencyMs, authorizerLatencyMs, integrationLatencyMs, requestId,
        integrationRequestId, authorizerRequestId
      | sort latencyMs desc | limit 100`,
    RefusedRequests:
      "filter status like /^4/ | stats count(*) as requests by status, error, route, keyId | sort requests desc",
    // API Gateway throttles before it knows the key.
    RequestsByKey:
      "filter error not like /THROTTLED/ | stats count(*) as requests by keyId | sort requests desc",
    RequestsByAddress: "stats count(*) as requests by sourceIp, error | sort requests desc",
    RequestsOfKey:
      "filter keyId = {{keyId}} | fields @timestamp, sourceIp, route, status, requestId | sort @timestamp desc | limit 10000",
    // Only those with a key.
    ...(isDeprecated && {
      DeprecatedRequests: `filter ${isDeprecated} | filter keyId like /^key_/
      | stats count(*) as requests by keyId, route | sort requests desc`,
    }),
  },
  functions: {
    FailedInvocations: `filter level = "ERROR" or record.status like /error|failure|timeout/ or @message not like /^\\{/
      | fields @timestamp, message.apiRequestId, message.version, message.error.name, message.error.cause.name, @log, @logStream, @message
      | sort @timestamp desc`,
    ColdStarts: `filter type = "platform.report" | stats count(*) as calls, count(record.metrics.initDurationMs) as starts,
      pct(record.metrics.initDurationMs, 50) as p50, pct(record.metrics.initDurationMs, 99) as p99,
      max(record.metrics.maxMemoryUsedMB) as memory by @log`,
  },
};

/** Saves the queries of docs/incidents.md in CloudWatch Logs Insights, in a folder with the name of the stack. */
export function addSavedQueries(scope: Construct, { api, functions }: MonitoredResources): void {
  const access = [api.accessLog.logGroup];
  const ofFunctions = Object.values(functions).map(({ logGroup }) => logGroup);
  const logGroups = { all: [...access, ...ofFunctions], access, functions: ofFunctions };
  for (const logs of ["all", "access", "functions"] as const)
    for (const [name, queryString] of Object.entries(queries[logs]))
      new CfnQueryDefinition(scope, `${name}Query`, {
        name: `${Stack.of(scope).stackName}/${name}`,
        queryString,
        parameters: [...new Set(queryString.match(/(?<={{)\w+(?=}})/g))].map((parameter) => ({
          name: parameter,
        })),
        logGroupNames: logGroups[logs],
      });
}
