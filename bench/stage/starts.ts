import { setTimeout } from "node:timers/promises";
import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
  type StackResource,
} from "@aws-sdk/client-cloudformation";
import {
  CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { format, table } from "../report.ts";

const HOURS = 24;

/** Lambda reports the first request of an instance with the duration of its start. */
const QUERY = `filter type = "platform.report" and ispresent(record.metrics.initDurationMs)
| stats count(*) as starts, pct(record.metrics.initDurationMs, 50) as p50, pct(record.metrics.initDurationMs, 99) as p99,
  max(record.metrics.maxMemoryUsedMB) as memory by @log`;

/**
 * Reads from a stack's logs how long the instances of its functions took to start. The stage must have `invocationLog`
 * (infra/stages.ts).
 *
 * @param stack name of the stack. The AWS credentials and the region come from the environment.
 * @returns a table of the last 24 hours
 */
export async function measureStarts(stack: string): Promise<string> {
  const { StackResources = [] } = await new CloudFormationClient({}).send(
    new DescribeStackResourcesCommand({ StackName: stack }),
  );
  const functions = logGroups(StackResources);
  const results = await query([...functions.keys()]);
  if (results.length === 0) {
    return `The logs of the last ${HOURS} hours report no start. Does the stage have invocationLog?`;
  }
  const rows = results.map(({ "@log": log = "", starts, p50, p99, memory }) => [
    functions.get(log.replace(/^\d+:/, "")) ?? log,
    ...[starts, p50, p99, memory].map((value) => format(Number(value), 0)),
  ]);
  return table([`last ${HOURS} hours`, "starts", "p50, ms", "p99, ms", "most memory, MB"], rows);
}

/** The functions' names by their log groups. A log group's logical id is the function's and `Logs`. */
function logGroups(resources: readonly StackResource[]): Map<string, string> {
  const groups = resources.flatMap(({ ResourceType, LogicalResourceId = "", PhysicalResourceId = "" }) => {
    const [, name] = /^(\w+)Logs[0-9A-F]{8}$/.exec(LogicalResourceId) ?? [];
    return name && ResourceType === "AWS::Logs::LogGroup" ? [[PhysicalResourceId, name] as const] : [];
  });
  return new Map(groups);
}

/** Runs QUERY with CloudWatch Logs Insights. @throws Error when the query fails */
async function query(logGroupNames: string[]): Promise<Record<string, string | undefined>[]> {
  const client = new CloudWatchLogsClient({});
  const endTime = Math.floor(Date.now() / 1000);
  const startTime = endTime - HOURS * 3600;
  const { queryId } = await client.send(
    new StartQueryCommand({ logGroupNames, startTime, endTime, queryString: QUERY }),
  );
  for (;;) {
    const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
    if (status === "Complete") {
      return results.map((fields) => Object.fromEntries(fields.map(({ field, value }) => [field, value])));
    }
    if (status !== "Scheduled" && status !== "Running")
      throw new Error(`The query of the logs ended as ${status}.`);
    await setTimeout(1000);
  }
}
