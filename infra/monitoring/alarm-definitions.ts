import { pascalCase } from "../names.ts";

// What operators learn from each alarm and what triggers it, as data: the stacks and the list in docs/incidents.md both
// follow from it. The modules beside this one have the metrics.

/** What an alarm says, and what its metric has to exceed: by default 0. */
export interface AlarmDefinition {
  name: string;
  /** a page wakes somebody, a notice can wait until working hours */
  topic: "page" | "notice";
  /** when it is triggered, without a full stop */
  description: string;
  /** the heading in docs/incidents.md of what to do */
  section: string;
  /** the share of the requests that fail, from 0 to 1 */
  share?: number;
  /** fewer failures do not trigger it, whatever their share is */
  atLeast?: number;
  /** in place of `atLeast` if no request succeeds */
  atLeastIfAllFail?: number;
  milliseconds?: number;
}

/** The share of the requests of 30 days that the objective for the availability allows to get a 5xx. */
export const ERROR_BUDGET = 0.001;

/** What is a slow response, in milliseconds. */
const SLOW_MS = 2000;

/** Fewer failures in the window of an alarm do not trigger it. */
const MIN_FAILURES = { page: 12, notice: 20 };

/**
 * How many times faster than the objective allows the 5xx of a window can come: 14.4 uses 2 % of the budget of 30 days in an
 * hour (The Site Reliability Workbook, "Alerting on SLOs"). The Workbook adds a short window to each, so that the alarm ends
 * soon after the fault. Here, this needs a composite alarm, which costs more, so an alarm can end a window late. The
 * shortest one pages again for a second outage. With even traffic, the alarm of the hour then also pages.
 */
const burnRates = [
  { minutes: 15, rate: 60, topic: "page" },
  { minutes: 60, rate: 14.4, topic: "page" },
  { minutes: 360, rate: 6, topic: "page" },
  { minutes: 4320, rate: 1, topic: "notice" },
] as const;

/** Returns an alarm that sends a notice. */
const notice = (
  name: string,
  section: string,
  description: string,
  threshold: Partial<AlarmDefinition> = {},
): AlarmDefinition => ({ name, topic: "notice", section, description, ...threshold });

/** @param share from 0 to 1 */
const percent = (share: number) => `${Number((share * 100).toFixed(3))} %`;

export const burnRateAlarms = burnRates.map(({ minutes, rate, topic }) => {
  const share = rate * ERROR_BUDGET;
  const hours = minutes / 60;
  const time = hours < 1 ? `${minutes} minutes` : hours === 1 ? "hour" : `${hours} hours`;
  const name = `ServerErrors${hours < 1 ? `${minutes}m` : `${hours}h`}`;
  const description = `More than ${percent(share)} of the requests of the last ${time} got a 5xx (the objective allows ${percent(ERROR_BUDGET)})`;
  const threshold = { share, atLeast: MIN_FAILURES[topic] };
  return { ...notice(name, "ServerErrors", description, threshold), topic, minutes };
});

// One client with an expired key that retries every 10 s makes fewer than 200 failures in 30 minutes.
export const refusals = notice(
  "Refusals",
  "Refusals",
  "More than half of the requests of the last 30 minutes were refused. Only requests that had a key or were throttled count",
  { share: 0.5, atLeast: 200, atLeastIfAllFail: MIN_FAILURES.notice },
);

export const blockedRequests = notice(
  "BlockedRequests",
  "BlockedRequests",
  "AWS WAF blocked more than half of the requests of the last 30 minutes",
  { share: 0.5, atLeast: MIN_FAILURES.notice },
);

export const highLatency = notice(
  "HighLatency",
  "HighLatency",
  `The slowest 1 % of the responses took more than ${SLOW_MS / 1000} s, in each of three periods of 5 minutes`,
  { milliseconds: SLOW_MS },
);

/** @param fn the name of a function, such as listPets */
export const throttles = (fn: string) =>
  notice(
    `${pascalCase(fn)}Throttles`,
    "Throttles",
    `Lambda or DynamoDB throttled ${fn}, in each of three periods of 5 minutes`,
  );

/** Returns the alarms of a new version in a canary deployment. @param fn the name of its function */
export function versionAlarms(fn: string) {
  const version = `the new version of ${fn}`;
  const alarm = (name: string, description: string, threshold?: Partial<AlarmDefinition>) =>
    notice(name, "Version alarms", description, threshold);
  const slow = `The slowest 1 % of the calls of ${version} took more than ${SLOW_MS / 1000} s`;
  const failed = `More than 5 % of the responses of ${version} in a minute were a 5xx`;
  return {
    errors: alarm("Errors", `The new version of ${fn} threw, crashed or timed out`),
    highLatency: alarm("HighLatency", slow, { milliseconds: SLOW_MS }),
    /** of an operation, whose handler never rejects: Lambda's `Errors` does not count its 5xx responses */
    serverErrors: alarm("ServerErrors", failed, { share: 0.05, atLeast: 1 }),
    /**
     * of the authorizer. Anybody can send keys that are refused, and would stop each deployment if half of the calls were
     * enough. `npm run traffic` sends valid keys, and reports a version that refuses only some of them.
     */
    refusals: alarm("Refusals", `The new version of ${fn} refused every key`, { share: 0.995, atLeast: 3 }),
  };
}
