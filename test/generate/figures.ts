import { readFileSync } from "node:fs";
import { stackName } from "../../infra/names.ts";
import { production } from "../../infra/stages.ts";
import { BODY_LIMIT, DEPTH_LIMIT, IDEMPOTENCY_HOURS, NAME_LIMIT, PAGE_SIZE } from "../../lib/limits.ts";
import { PetStatus } from "../../lib/pet.ts";
import { FOLDER } from "../support/reviewed-templates.ts";
import { alarmList } from "./alarm-list.ts";
import { entry, format, insert, table } from "./report.ts";

// What the table of limits assumes about the traffic of production.
const LISTS = 0.8;
const CREATIONS = 0.15;

// DynamoDB guide, "Best practices for designing partition keys" and "Quotas"; "Read and write operations" has the sizes.
const PARTITION = { reads: 3000, writes: 1000 };
const TABLE_QUOTA = 40_000;
/** A Query of the index is eventually consistent: half a unit for each 4 KB, rounded up. */
const queryUnits = (bytes: number) => Math.ceil(bytes / 4096) / 2;
/**
 * A pet without its name: the names and the values of its attributes (DynamoDB guide, "Item sizes and formats"). A number
 * takes a byte for two digits, and one more.
 */
const PET_BYTES = 146;
/** A page reads one pet more than it holds. */
const pageUnits = (pets: number, nameBytes: number) => queryUnits((pets + 1) * (PET_BYTES + nameBytes));
/** The default page, with names as most animals have them. */
const QUERY_UNITS = pageUnits(PAGE_SIZE.default, 10);
// API Gateway guide, "Quotas". Lambda guide, "Understanding Lambda function scaling".
const API_QUOTA = { most: 10_000, thirteen: 2500 };
const LAMBDA = { concurrency: 1000, requestsForEach: 10 };

const { throttling, wafRateLimits } = production;

const whole = (value: number) => format(value, 0);

/** The read units of a page of all statuses. */
const PAGE_UNITS = PetStatus.options.length * QUERY_UNITS;

function endTable(): string {
  // API Gateway throttles each method by itself. `npm run generate` has just written this template.
  const template = readFileSync(new URL(`${stackName(production.name)}.yaml`, FOLDER), "utf8");
  const methods = template.split("Type: AWS::ApiGateway::Method\n").length - 1;
  const { concurrency, requestsForEach } = LAMBDA;
  const instances = `${whole(concurrency)} instances, ${requestsForEach} calls a second each`;
  const units = (kind: string, limit: number) => `an index partition takes ${whole(limit)} ${kind} units`;
  const ends: Record<string, [rate: number, because: string]> = {
    "Throttling of one method": [throttling.rate, "`throttling`"],
    [`Throttling of all ${methods} methods`]: [methods * throttling.rate, "`throttling`, if ANY is one"],
    "API Gateway's quota in 13 regions": [API_QUOTA.thirteen, "quota of the account"],
    "API Gateway's quota elsewhere": [API_QUOTA.most, "quota of the account"],
    "Lambda's requests, if no key is cached": [
      (concurrency * requestsForEach) / 2,
      `${instances}, 2 a request`,
    ],
    "Lambda's requests, if every key is cached": [concurrency * requestsForEach, instances],
    "New pets of one status": [PARTITION.writes / CREATIONS, units("write", PARTITION.writes)],
    "First pages of one status": [PARTITION.reads / QUERY_UNITS / LISTS, units("read", PARTITION.reads)],
    ...Object.fromEntries(
      [1, 4].map((bytes) => [
        `First pages of ${PAGE_SIZE.maximum} pets, names of ${NAME_LIMIT * bytes} bytes`,
        [
          PARTITION.reads / pageUnits(PAGE_SIZE.maximum, NAME_LIMIT * bytes) / LISTS,
          units("read", PARTITION.reads),
        ],
      ]),
    ),
    "Reads of the index": [TABLE_QUOTA / (LISTS * PAGE_UNITS), `quota of ${whole(TABLE_QUOTA)} units`],
  };
  const limits = table(
    ["Part", "Requests a second", "Because"],
    Object.entries(ends)
      .sort(([, [a]], [, [b]]) => a - b)
      .map(([part, [rate, because]]) => [part, whole(rate), because]),
  );
  return `${limits}

${entry(`The throttling of the ${methods} methods allows ${whole((methods * throttling.rate * 86_400) / 1e6)} million requests a day.`)}
${entry(`Assumed of the requests: ${LISTS * 100} % list the first ${PAGE_SIZE.default} pets of all statuses (${PAGE_UNITS} read units), and ${CREATIONS * 100} % add a pet of the same status (2 write units, one of them in the index).`)}`;
}

function clientLimits(): string {
  const minute = (limit?: number) => (limit ? `about ${whole(limit)} requests a minute` : "none of its own");
  return table(
    ["Limit of production", "Value"],
    [
      ["`name`", `1 to ${NAME_LIMIT} characters`],
      ["body", `${BODY_LIMIT / 1024} KiB of JSON with at most ${DEPTH_LIMIT} levels`],
      ["`limit` of a list", `${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}, by default ${PAGE_SIZE.default}`],
      ["`Idempotency-Key`", `remembered for at least ${IDEMPOTENCY_HOURS} hours`],
      ["one API key", minute(wafRateLimits?.perKeyPerMinute)],
      ["one IP address", minute(wafRateLimits?.perIpPerMinute)],
      ["each operation, for all clients together", `${whole(throttling.rate)} requests a second`],
    ],
    "text",
  );
}

/** The figures by document and marker. */
const figures: Record<string, Record<string, () => string>> = {
  "README.md": { limits: clientLimits },
  "docs/decisions/scaling-limits.md": { ends: endTable },
  "docs/incidents.md": { alarms: alarmList },
};

/** The documents that have figures, relative to the root. */
export const documents = Object.keys(figures);

/**
 * Computes the figures of a document from the settings of the stages and the limits of the API.
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
