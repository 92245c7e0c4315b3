import { readFileSync } from "node:fs";
import { format, insert, table } from "../bench/report.ts";
import { deployedStages, stackName } from "../infra/stages.ts";
import { BODY_LIMIT, IDEMPOTENCY_SECONDS, NAME_LIMIT, PAGE_SIZE } from "../lib/limits.ts";
import { PetStatus } from "../lib/pet.ts";

// What the cost and the load tables assume about the traffic of the stages that keep data.
const LISTS = 0.8;
const CREATIONS = 0.15;
const OTHERS = 0.05;
const KEYS = 10;
const HOURS = 730;
const SECONDS = HOURS * 3600;
const CALL_MS = 8;
const BYTES = { log: 416, list: 2000, other: 600, pet: 400 };

// DynamoDB guide, "Best practices for designing partition keys" and "Quotas"; "Read and write operations" has the sizes.
const PARTITION = { reads: 3000, writes: 1000 };
const TABLE_QUOTA = 40_000;
/** A Query of the index is eventually consistent: half a unit for each 4 KB, rounded up. */
const QUERY_UNITS = 0.5;
// API Gateway guide, "Quotas". Lambda guide, "Understanding Lambda function scaling".
const API_QUOTA = { most: 10_000, thirteen: 2500 };
const LAMBDA = { concurrency: 1000, requestsForEach: 10 };

const kept = deployedStages.find(({ retainData }) => retainData);
if (!kept) throw new Error("No stage keeps data.");
const { throttling, wafRateLimits, statusShards, authorizerCacheSeconds } = kept;

const template = readFileSync(
  new URL(`../test/integration/infra/templates/${stackName(kept.name)}.yaml`, import.meta.url),
  "utf8",
);
const count = (pattern: RegExp) => template.match(pattern)?.length ?? 0;
const alarms = count(/Type: AWS::CloudWatch::Alarm/g);
// An alarm has one metric, or lists its metrics.
const logMetrics = count(/DefaultValue: 0/g);
const alarmMetrics = alarms - count(/ Metrics:/g) + count(/ MetricStat:/g);
const megabytes = Number(/MemorySize: (\d+)/.exec(template)?.[1]);

const whole = (value: number) => format(value, 0);

/** The read units of a page of all statuses. */
const PAGE_UNITS = PetStatus.options.length * statusShards.read * QUERY_UNITS;

/** The price of an amount in tiers of [amount, price]; the last has no end. */
function tiered(amount: number, tiers: readonly (readonly [number, number])[]): number {
  let rest = amount;
  return tiers.reduce((sum, [size, price]) => {
    const part = Math.min(rest, size);
    rest -= part;
    return sum + part * price;
  }, 0);
}

/** USD a month by part. The prices are list prices of us-east-1. */
function costAt(rate: number): Record<string, number> {
  const requests = rate * SECONDS;
  const millions = requests / 1e6;
  const pets = requests * CREATIONS;
  const calls = requests + (KEYS / authorizerCacheSeconds) * SECONDS;
  const gigabytes = (requests * (LISTS * BYTES.list + (1 - LISTS) * BYTES.other)) / 1e9;
  const parts = {
    "API Gateway": tiered(millions, [
      [333, 3.5],
      [667, 2.8],
      [19_000, 2.38],
      [Number.POSITIVE_INFINITY, 1.51],
    ]),
    Lambda: (calls / 1e6) * 0.2 + calls * (CALL_MS / 1000) * (megabytes / 1024) * 0.0000133334,
    "DynamoDB, reads and writes": millions * ((LISTS * PAGE_UNITS + OTHERS) * 0.125 + CREATIONS * 2 * 0.625),
    // storage of the table and the index, and recovery of the table
    "DynamoDB, a month's new pets": ((pets * BYTES.pet) / 1e9) * (0.25 + 0.2 / 2),
    Logs: ((requests * BYTES.log) / 1e9) * 0.5,
    ...(wafRateLimits && { "AWS WAF": 5 + 2 + millions * 0.6 }),
    "Data to the internet": tiered(Math.max(0, gigabytes - 100), [
      [10_000, 0.09],
      [40_000, 0.085],
      [100_000, 0.07],
      [Number.POSITIVE_INFINITY, 0.05],
    ]),
    "Alarms, dashboard, metrics and KMS key": alarmMetrics * 0.1 + (KEYS + logMetrics) * 0.3 + 3 + 1,
  };
  return { ...parts, "**Total**": Object.values(parts).reduce((sum, part) => sum + part) };
}

function costTable(): string {
  const rates = [1, 100, 1000];
  const costs = rates.map(costAt);
  const decimals = (column: number) => (column === 0 ? 1 : 0);
  const rows = Object.keys(costs[0] ?? {}).map((part) => [
    part,
    ...costs.map((cost, n) => format(cost[part] ?? 0, decimals(n))),
  ]);
  const requests = rates.map((rate, n) => `${format((rate * SECONDS) / 1e6, decimals(n))} million`);
  const head = ["Part", ...rates.map((rate) => `${whole(rate)} a second`)];
  return `${table(head, [["Requests a month", ...requests], ...rows])}

- ${LISTS * 100} % list ${PAGE_SIZE.default} pets (${PAGE_UNITS} read units), ${CREATIONS * 100} % add a pet without an \`Idempotency-Key\` (2 write units), ${OTHERS * 100} % get one (1 read unit).
- A month has ${HOURS} hours. A call takes ${CALL_MS} ms of ${megabytes} MB on average. ${KEYS} keys are in use, each looked up once in ${authorizerCacheSeconds} seconds.
- A log line has ${BYTES.log} bytes, a list ${BYTES.list} bytes, any other response ${BYTES.other} bytes, and a stored pet ${BYTES.pet} bytes, index included.
- There are ${alarms} alarms on ${alarmMetrics} metrics, ${logMetrics} metrics that are counted from the access log, and one more for each key.
- Not included: an instance of \`provisionedConcurrency\` costs ${format((megabytes / 1024) * SECONDS * 0.0000033334, 2)} USD a month, used or not.`;
}

function endTable(): string {
  const { concurrency, requestsForEach } = LAMBDA;
  const instances = `${requestsForEach} a second for each of ${whole(concurrency)} instances`;
  const units = (kind: string, limit: number) => `an index partition takes ${whole(limit)} ${kind} units`;
  const ends: Record<string, [rate: number, because: string]> = {
    "Throttling of the stage": [throttling.rate, "`throttling`"],
    "API Gateway's quota in 13 regions": [API_QUOTA.thirteen, "quota of the account"],
    "API Gateway's quota elsewhere": [API_QUOTA.most, "quota of the account"],
    "Lambda's requests, if no key is cached": [
      (concurrency * requestsForEach) / 2,
      `${instances}, and two calls a request`,
    ],
    "Lambda's requests, if every key is cached": [concurrency * requestsForEach, instances],
    "New pets of one status": [
      (PARTITION.writes * statusShards.write) / CREATIONS,
      `${units("write", PARTITION.writes)}: raise \`statusShards\``,
    ],
    "First pages of one status": [PARTITION.reads / QUERY_UNITS / LISTS, units("read", PARTITION.reads)],
    "Reads of the index": [TABLE_QUOTA / (LISTS * PAGE_UNITS), `quota of ${whole(TABLE_QUOTA)} units`],
  };
  return table(
    ["Part", "Requests a second", "Because"],
    Object.entries(ends)
      .sort(([, [a]], [, [b]]) => a - b)
      .map(([part, [rate, because]]) => [part, whole(rate), because]),
  );
}

function canary(): string {
  const [, percent, minutes] = /LambdaCanary(\d+)Percent(\d+)Minutes/.exec(template) ?? [];
  return percent
    ? `CodeDeploy sends ${percent} % of a function's calls to its new version for ${minutes} minutes, and then all of them.`
    : "All calls of a function reach its new version at once.";
}

function clientLimits(): string {
  const minute = (limit?: number) => (limit ? `about ${whole(limit)} requests a minute` : "none of its own");
  return table(
    ["Limit", "Value"],
    [
      ["`name`", `1 to ${NAME_LIMIT} characters`],
      ["body", `${BODY_LIMIT / 1024} KiB`],
      ["`limit` of a list", `${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}, by default ${PAGE_SIZE.default}`],
      ["`Idempotency-Key`", `remembered for ${IDEMPOTENCY_SECONDS / 3600} hours`],
      ["one API key", minute(wafRateLimits?.perKeyPerMinute)],
      ["one IP address", minute(wafRateLimits?.perIpPerMinute)],
      ["all clients together", `${whole(throttling.rate)} requests a second`],
    ],
    "text",
  );
}

/** The figures by document and marker. */
const figures: Record<string, Record<string, () => string>> = {
  "README.md": { limits: clientLimits },
  "docs/incidents.md": { canary },
  "docs/deployment.md": { cost: costTable },
  "docs/decisions/load.md": { ends: endTable },
};

/** The documents that have figures, relative to the root. */
export const documents = Object.keys(figures);

/**
 * Computes the figures of a document from the settings of the stages, the reviewed template and the limits of the API.
 *
 * @param document one of `documents`
 * @param text what the document contains now
 * @returns its text with the figures between their markers
 * @throws Error when a marker is missing
 */
export const withFigures = (document: string, text: string): string =>
  Object.entries(figures[document] ?? {}).reduce(
    (result, [marker, content]) => insert(result, marker, content()),
    text,
  );
