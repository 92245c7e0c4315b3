import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { stackName, stages } from "../../../../infra/stages.ts";
import { PAGE_SIZE } from "../../../../lib/limits.ts";
import { operations } from "../../../../lib/operations.ts";
import { PetStatus } from "../../../../lib/pet.ts";
import { fileOf } from "../../../support/normalize.ts";
import { KEYS, SHARES } from "../../../support/traffic.ts";

// Computes the figures of docs/decisions/load.md, and the cost and the limits in docs/operations.md.

const read = (file: string) => readFileSync(new URL(`../../../../docs/${file}`, import.meta.url), "utf8");
const record = read("decisions/load.md");
const runbook = read("operations.md");

/** The cells of the row that starts with a label, without the label. */
const row = (document: string, label: string) =>
  document
    .split("\n")
    .find((line) => line.replace(/^\| [*]*|[*]* +\|.*$/g, "") === label)
    ?.split("|")
    .slice(2, -1)
    .map((cell) => cell.replaceAll("*", "").trim());

const format = (value: number, decimals = 0) =>
  value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

const production = stages.find(({ firewall }) => firewall);
if (!production?.firewall) throw new Error("No stage has a firewall.");
const { name: stage, throttling, firewall, statusShards, authorizerCacheSeconds } = production;

/** What docs/operations.md assumes about the traffic, from its text under "Cost". */
const assumption = (pattern: RegExp) => {
  const [, number] = pattern.exec(runbook.replaceAll("\n", " ")) ?? [];
  if (number === undefined) throw new Error(`docs/operations.md does not match ${pattern}.`);
  return Number(number);
};
const seconds = assumption(/A call takes (\d+) ms/) / 1000;
const memory = assumption(/ms of (\d+) MB on average/) / 1024;
const hours = assumption(/for (\d+) hours/);
const logBytes = assumption(/log line of (\d+) bytes/);
const listBytes = assumption(/A list has (\d+) KB/) * 1000;
const otherBytes = assumption(/any other response ([\d.]+) KB/) * 1000;
const petBytes = assumption(/A pet takes (\d+) bytes, index included/);

// DynamoDB guide, "Best practices for designing partition keys" and "Quotas"; "Read and write operations" has the sizes.
const PARTITION = { reads: 3000, writes: 1000 };
const TABLE_QUOTA = 40_000;
const READ_UNIT = 4096;
/** a Query of the index is eventually consistent: half a unit for each 4 KB, rounded up */
const queryUnits = 0.5;
/** the shards differ in how many ids they get */
const EVENNESS = 0.9;
// API Gateway guide, "Quotas". Lambda guide, "Understanding Lambda function scaling".
const API_QUOTA = { most: 10_000, thirteen: 2500 };
const LAMBDA = { concurrency: 1000, requestsForEach: 10 };

/** What a rate of requests needs. */
function needsAt(rate: number) {
  const lists = rate * SHARES.listPets;
  const creations = rate * SHARES.createPet;
  const shards = Math.ceil(creations / (PARTITION.writes * EVENNESS));
  const queries = PetStatus.options.length * shards;
  const keys = Math.max(KEYS, Math.ceil(rate / (firewall.keyLimit / 60)));
  return { lists, creations, shards, queries, pageUnits: queries * queryUnits, keys };
}

/** The price of an amount in tiers of [amount, price]; the last has no end. */
function tiered(amount: number, tiers: readonly (readonly [number, number])[]): number {
  let rest = amount;
  return tiers.reduce((sum, [size, price]) => {
    const part = Math.min(rest, size);
    rest -= part;
    return sum + part * price;
  }, 0);
}

const template = readFileSync(fileOf(stackName(stage)), "utf8");
const count = (pattern: RegExp) => template.match(pattern)?.length ?? 0;
const alarms = count(/Type: AWS::CloudWatch::Alarm/g);
/** an alarm has one metric, or lists its metrics */
const alarmMetrics = alarms - count(/ Metrics:/g) + count(/ MetricStat:/g);

/** USD a month, by the parts of the table in docs/operations.md. The prices are list prices of us-east-1. */
function costAt(rate: number) {
  const { pageUnits, keys } = needsAt(rate);
  const requests = rate * 3600 * hours;
  const millions = requests / 1e6;
  const pets = requests * SHARES.createPet;
  const calls = requests + (keys / authorizerCacheSeconds) * 3600 * hours;
  const reads = millions * (SHARES.listPets * pageUnits + SHARES.getPet) * 0.125;
  const gigabytes = (requests * (SHARES.listPets * listBytes + (1 - SHARES.listPets) * otherBytes)) / 1e9;
  const parts = {
    "API Gateway": tiered(millions, [
      [333, 3.5],
      [667, 2.8],
      [19_000, 2.38],
      [Number.POSITIVE_INFINITY, 1.51],
    ]),
    Lambda: (calls / 1e6) * 0.2 + calls * seconds * memory * 0.0000133334,
    "DynamoDB, reads and writes": reads + millions * SHARES.createPet * 2 * 0.625,
    // storage of the table and the index, and recovery of the table
    "DynamoDB, a month's new pets": ((pets * petBytes) / 1e9) * (0.25 + 0.2 / 2),
    Logs: ((requests * logBytes) / 1e9) * 0.5,
    Firewall: 5 + 2 + millions * 0.6,
    "Data to the internet": tiered(Math.max(0, gigabytes - 100), [
      [10_000, 0.09],
      [40_000, 0.085],
      [100_000, 0.07],
      [Number.POSITIVE_INFINITY, 0.05],
    ]),
    "Alarms, dashboard, metrics and KMS key": alarmMetrics * 0.1 + keys * 0.3 + 3 + 1,
  };
  return { parts, reads, total: Object.values(parts).reduce((sum, part) => sum + part) };
}

describe("docs/operations.md", () => {
  it.each(Object.keys(costAt(1).parts))("has the cost of %s", (part) => {
    const cost = (rate: number) =>
      Object.entries(costAt(rate).parts).find(([name]) => name === part)?.[1] ?? 0;
    expect(row(runbook, part)).toEqual([format(cost(1), 1), format(cost(100)), format(cost(1000))]);
  });

  it("has the total cost", () => {
    expect(row(runbook, "Total")).toEqual([1, 100, 1000].map((rate) => format(costAt(rate).total)));
  });

  it("has the alarms of the template", () => {
    expect(runbook.replaceAll("\n", " ")).toContain(`${alarms} alarms on ${alarmMetrics} metrics`);
  });

  it("has the cost of the options, and the quota that reserved instances need", () => {
    const instance = memory * 3600 * hours * 0.0000033334;
    const text = runbook.replaceAll("\n", " ");
    expect(text).toContain(
      `Each instance costs about ${format(Number(instance.toPrecision(2)), 2)} USD a month`,
    );
    const instances = operations.length * 2 + 1;
    expect(text).toContain(
      `\`{ operation: 2, authorizer: 1 }\` is ${instances} instances, about ${format(instances * instance)} USD a month`,
    );
    expect(text).toContain(`at least ${operations.length} × \`operation\` + \`authorizer\` + 100`);
    expect(text).toContain(
      `\`{ operation: 50, authorizer: 20 }\` needs ${operations.length * 50 + 20 + 100}`,
    );
  });

  it("has the limit of the first pages", () => {
    const [value] = row(runbook, "first pages of a status") ?? [];
    expect(value).toContain(format(PARTITION.reads / queryUnits));
    expect(value).toContain(`${PAGE_SIZE.default} pets`);
  });
});

describe("docs/decisions/load.md", () => {
  const { pageUnits, queries } = needsAt(1);
  const everyKeyOnce = (LAMBDA.concurrency * LAMBDA.requestsForEach) / 2;

  it.each([
    ["Throttling of the stage", throttling.rate],
    ["API Gateway's quota in 13 regions", API_QUOTA.thirteen],
    ["Lambda's requests, if no key is cached", everyKeyOnce],
    ["New pets of one status", (PARTITION.writes * statusShards.write) / SHARES.createPet],
    ["First pages of one status", PARTITION.reads / queryUnits / SHARES.listPets],
    ["API Gateway's quota elsewhere", API_QUOTA.most],
    ["Lambda's requests, if every key is cached", LAMBDA.concurrency * LAMBDA.requestsForEach],
    ["Reads of the index", TABLE_QUOTA / (SHARES.listPets * pageUnits)],
    ["Lambda's instances", LAMBDA.concurrency / seconds],
    ["Writes of the index", TABLE_QUOTA / SHARES.createPet],
  ])("says where it ends: %s", (label, rate) => {
    expect(row(record, label)?.[0]).toBe(format(rate));
  });

  it("lists the limits in the order in which they are reached", () => {
    const [, table = ""] = /## Where each part ends\n[^|]*(\|[\s\S]*?)\n\n/.exec(record) ?? [];
    const rates = [...table.matchAll(/^\| [A-Z].*?\| +([\d,]+) \|/gm)].map(([, rate = ""]) =>
      Number(rate.replaceAll(",", "")),
    );
    expect(rates).toHaveLength(10);
    expect(rates).toEqual(rates.toSorted((a, b) => a - b));
  });

  it.each([
    ["New pets a second", ({ creations }) => format(creations)],
    ["Index partitions for each status", ({ shards }) => format(shards)],
    ["Queries for a page of all statuses", (needs) => format(needs.queries)],
    ["Read units of such a page", (needs) => format(needs.pageUnits, 1)],
    ["Read units of the index a second", (needs) => format(needs.lists * needs.pageUnits)],
    ["Reads of one partition for first pages, units a second", ({ lists }) => format(lists * queryUnits)],
    ["Keys, at least", ({ keys }) => format(keys)],
    ["Calls of the authorizer a second", ({ keys }) => format(keys / authorizerCacheSeconds, 1)],
    ["Busy function instances", (_, rate) => format(rate * seconds)],
    ["Lambda's quota of instances", (_, rate) => format(rate / LAMBDA.requestsForEach)],
    ["USD a month", (_, rate) => format(costAt(rate).total)],
    ["Of it, reads of DynamoDB", (_, rate) => format(costAt(rate).reads)],
  ] satisfies [string, (needs: ReturnType<typeof needsAt>, rate: number) => string][])(
    "says what a rate needs: %s",
    (label, cell) => {
      expect(row(record, label)).toEqual([1000, 10_000, 100_000].map((rate) => cell(needsAt(rate), rate)));
    },
  );

  it("says how large a pet can be for half a unit", () => {
    expect(queries).toBe(PetStatus.options.length);
    expect(record).toContain(`${Math.floor(READ_UNIT / (PAGE_SIZE.default + 1))} bytes`);
  });
});
