import { Stack } from "aws-cdk-lib";
import { CfnQueryDefinition } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { MonitoredResources } from "./alarms.ts";

/** Queries by name, for each part of the logs. `{{name}}` is a parameter, whose value is quoted when the query runs. */
const queries = {
  all: {
    Request: `filter requestId = {{id}} or message.apiRequestId = {{id}} or record.requestId = {{id}}
      | fields @timestamp, status, error, authorizerError, integrationStatus, latencyMs, @logStream, @message
      | sort @timestamp`,
  },
  accessLog: {
    FailedRequests: `filter status like /^5/
      | fields @timestamp, route, status, error, authorizerError, integrationStatus, latencyMs, requestId
      | sort @timestamp desc`,
    RefusedRequests: `filter status like /^4/
      | stats count(*) as requests by status, error, keyId
      | sort requests desc`,
    RequestsOfKey: `filter keyId = {{keyId}}
      | fields @timestamp, route, status, requestId
      | sort @timestamp desc | limit 10000`,
  },
  functions: {
    FailedInvocations: `filter level = "ERROR" or record.status like /error|failure|timeout/ or @message not like /^\\{/
      | fields @timestamp, @log, message.apiRequestId, message.version, message.error.name, @logStream, @message
      | sort @timestamp desc`,
    ColdStarts: `filter type = "platform.report"
      | stats count(*) as calls, count(record.metrics.initDurationMs) as starts, max(record.metrics.maxMemoryUsedMB) as memory,
        pct(record.metrics.initDurationMs, 50) as p50, pct(record.metrics.initDurationMs, 99) as p99 by @log`,
  },
};

/** Saves the queries of docs/incidents.md in CloudWatch Logs Insights, in a folder with the name of the stack. */
export function addSavedQueries(scope: Construct, { api, functions }: MonitoredResources): void {
  const accessLog = [api.accessLog.logGroup];
  const ofFunctions = Object.values(functions).map(({ logGroup }) => logGroup);
  const logGroups = { all: [...accessLog, ...ofFunctions], accessLog, functions: ofFunctions };
  for (const part of ["all", "accessLog", "functions"] as const)
    for (const [name, queryString] of Object.entries(queries[part])) {
      const parameters = new Set(
        [...queryString.matchAll(/\{\{(\w+)\}\}/g)].map(([, parameter = ""]) => parameter),
      );
      new CfnQueryDefinition(scope, `${name}Query`, {
        name: `${Stack.of(scope).stackName}/${name}`,
        queryString,
        parameters: [...parameters].map((parameter) => ({ name: parameter })),
        logGroupNames: logGroups[part],
      });
    }
}
