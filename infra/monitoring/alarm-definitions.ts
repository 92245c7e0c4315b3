import { pascalCase } from "../names.ts";

// What operators learn from each alarm and what triggers it, as data: the stacks and the list in docs/incidents.md both
// follow from it. The modules beside this one have the metrics.

/** An alarm, without its metric. */
export type AlarmDefinition = Threshold & {
  name: string;
  /** a page wakes somebody, a notice can wait until working hours */
  topic: "page" | "notice";
  /** the length of a period */
  minutes: number;
  /** how many periods in a row exceed the threshold */
  periods: number;
  /** which calls are measured, and what happens to them unless it is their latency */
  what: string;
  /** what the description says after the time */
  note?: string;
  /** the heading in docs/incidents.md of what to do */
  section: string;
};

/** An alarm on a share of the calls. */
export type ShareAlarm = Extract<AlarmDefinition, { kind: "share" }>;

/** What has to happen in each period. */
type Threshold =
  /** more than a share of the calls fail, from 0 to 1, and at least so many: `atLeastIfAllFail` if no call succeeds */
  | { kind: "share"; share: number; atLeast: number; atLeastIfAllFail?: number }
  /** the slowest 1 % take longer */
  | { kind: "latency"; milliseconds: number }
  /** it happens more often than this, or at all if it is 0 */
  | { kind: "count"; moreThan: number };

/** The share of the requests of 30 days that the objective for the availability allows to get a 5xx. */
export const ERROR_BUDGET = 0.001;

/** What is a slow response, in milliseconds. */
const SLOW_MS = 2000;

/** Fewer failures in the window of an alarm do not trigger it. */
const MIN_FAILURES = { page: 12, notice: 20 };

/** @param share from 0 to 1 */
const percent = (share: number) => `${Number((share * 100).toFixed(3))} %`;

function triggerOf(definition: AlarmDefinition): { threshold: number; text: string } {
  const { what } = definition;
  switch (definition.kind) {
    case "share":
      return { threshold: definition.share, text: `More than ${percent(definition.share)} of the ${what}` };
    case "latency": {
      const { milliseconds } = definition;
      return {
        threshold: milliseconds,
        text: `The slowest 1 % of the ${what} took more than ${milliseconds / 1000} s`,
      };
    }
    case "count": {
      const { moreThan } = definition;
      return { threshold: moreThan, text: moreThan > 0 ? `More than ${moreThan} ${what}` : what };
    }
  }
}

/** Returns what the metric of an alarm has to exceed. */
export const thresholdOf = (definition: AlarmDefinition) => triggerOf(definition).threshold;

/** Returns when an alarm is triggered, without a full stop. */
export function descriptionOf(definition: AlarmDefinition): string {
  const { minutes, periods, note = "" } = definition;
  const time = minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;
  const last = `the last ${time.replace(/^1 (\w+)s$/, "$1")}`;
  return `${triggerOf(definition).text} in ${periods === 1 ? last : `each of ${periods} periods of ${time}`}${note}`;
}

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

export const burnRateAlarms = burnRates.map(
  ({ minutes, rate, topic }): ShareAlarm => ({
    kind: "share",
    name: `ServerErrors${minutes < 60 ? `${minutes}m` : `${minutes / 60}h`}`,
    topic,
    minutes,
    periods: 1,
    share: rate * ERROR_BUDGET,
    atLeast: MIN_FAILURES[topic],
    what: "served requests got a 5xx",
    note: ` (the objective allows ${percent(ERROR_BUDGET)})`,
    section: "ServerErrors",
  }),
);

const lockout = { kind: "share", topic: "notice", minutes: 30, periods: 1, share: 0.5 } as const;
const slow = { kind: "latency", topic: "notice", milliseconds: SLOW_MS } as const;

// One client with an expired key that retries every 10 s makes fewer than 200 failures in 30 minutes.
export const refusals: ShareAlarm = {
  ...lockout,
  name: "Refusals",
  atLeast: 200,
  atLeastIfAllFail: MIN_FAILURES.notice,
  what: "requests were refused",
  note: ". Only requests that had a key or were throttled count",
  section: "Refusals",
};

export const blockedRequests: ShareAlarm = {
  ...lockout,
  name: "BlockedRequests",
  atLeast: MIN_FAILURES.notice,
  what: "requests were blocked by AWS WAF",
  section: "BlockedRequests",
};

export const highLatency: AlarmDefinition = {
  ...slow,
  name: "HighLatency",
  minutes: 5,
  periods: 3,
  what: "responses",
  section: "HighLatency",
};

export const unloggedRequests: AlarmDefinition = {
  kind: "count",
  name: "UnloggedRequests",
  topic: "notice",
  minutes: 30,
  periods: 1,
  moreThan: MIN_FAILURES.notice,
  what: "requests reached API Gateway and none reached the access log",
  section: "UnloggedRequests",
};

/** @param fn the name of a function, such as listPets */
export const throttles = (fn: string): AlarmDefinition => ({
  kind: "count",
  moreThan: 0,
  name: `${pascalCase(fn)}Throttles`,
  topic: "notice",
  minutes: 5,
  periods: 3,
  what: `Lambda or DynamoDB throttled ${fn}`,
  section: "Throttles",
});

/** Returns the alarms of a new version in a canary deployment. @param fn the name of its function */
export function versionAlarms(fn: string) {
  const version = `the new version of ${fn}`;
  const common = { topic: "notice", minutes: 1, periods: 1, section: "Version alarms" } as const;
  const share = { ...common, kind: "share" } as const;
  return {
    errors: {
      ...common,
      kind: "count",
      moreThan: 0,
      name: "Errors",
      what: `The new version of ${fn} threw, crashed or timed out`,
    },
    highLatency: { ...common, ...slow, name: "HighLatency", what: `calls of ${version}` },
    /** of an operation, whose handler never rejects: Lambda's `Errors` does not count its 5xx responses */
    serverErrors: {
      ...share,
      name: "ServerErrors",
      share: 0.05,
      atLeast: 1,
      what: `responses of ${version} were a 5xx`,
    },
    /**
     * of the authorizer. Anybody can send keys that are refused, and would stop each deployment if half of the calls were
     * enough. `npm run traffic` sends valid keys, and reports a version that refuses only some of them.
     */
    refusals: {
      ...share,
      name: "Refusals",
      share: 0.995,
      atLeast: 3,
      what: `calls of ${version} were refused`,
    },
  } as const satisfies Record<string, AlarmDefinition>;
}
