import { pascalCase } from "../names.ts";

// What operators learn from each alarm and what triggers it, as data: the stacks and the list in docs/incidents.md both
// follow from it. The modules beside this one have the metrics.

/** An alarm, without its metric. In each of its periods, the metric exceeds the threshold. */
export type AlarmDefinition = Threshold & {
  name: string;
  /** a page wakes somebody, a notice can wait until working hours */
  topic: "page" | "notice";
  /** the heading in docs/incidents.md of what to do */
  section: string;
  /** the length of a period */
  minutes: number;
  /** how many periods in a row */
  periods: number;
  /** which calls are measured, and what happens to them unless it is their latency */
  what: string;
  /** what the description says after the time */
  note?: string;
};

type Threshold =
  /** the share of the calls that fail, from 0 to 1, and how many have to fail: `atLeastIfAllFail` if no call succeeds */
  | { kind: "share"; share: number; atLeast: number; atLeastIfAllFail?: number }
  /** the time of the slowest 1 % */
  | { kind: "latency"; milliseconds: number }
  | { kind: "count"; moreThan: number };

export type ShareAlarm = Extract<AlarmDefinition, { kind: "share" }>;

/** The share of the requests of 30 days that the objective for the availability allows to get a 5xx. */
export const ERROR_BUDGET = 0.001;

/** What is a slow response, in milliseconds. */
const SLOW_MS = 2000;

/** Fewer failures in the window of an alarm do not trigger it. */
const MIN_FAILURES = { page: 12, notice: 20 };

/** @param share from 0 to 1 */
const percent = (share: number) => `${Number((share * 100).toFixed(3))} %`;

/** Returns what the metric of an alarm has to exceed, and the same as a text without a full stop. */
export function triggerOf(alarm: AlarmDefinition): { threshold: number; description: string } {
  const { what, minutes, periods, note = "" } = alarm;
  const time = minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;
  const last = `the last ${time.replace(/^1 (\w+)s$/, "$1")}`;
  const trigger = (threshold: number, text: string) => ({
    threshold,
    description: `${text} in ${periods === 1 ? last : `each of ${periods} periods of ${time}`}${note}`,
  });
  switch (alarm.kind) {
    case "share":
      return trigger(alarm.share, `More than ${percent(alarm.share)} of the ${what}`);
    case "latency":
      return trigger(
        alarm.milliseconds,
        `The slowest 1 % of the ${what} took more than ${alarm.milliseconds / 1000} s`,
      );
    case "count":
      return trigger(alarm.moreThan, alarm.moreThan > 0 ? `More than ${alarm.moreThan} ${what}` : what);
  }
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

const notice = <Name extends string>(name: Name) => ({ name, section: name, topic: "notice" }) as const;
const halfHour = { minutes: 30, periods: 1 };
const quarter = { minutes: 5, periods: 3 };
const lockout = { ...halfHour, kind: "share", share: 0.5 } as const;
const slow = { kind: "latency", milliseconds: SLOW_MS } as const;

// One client with an expired key that retries every 10 s makes fewer than 200 failures in 30 minutes.
export const refusals: ShareAlarm = {
  ...notice("Refusals"),
  ...lockout,
  atLeast: 200,
  atLeastIfAllFail: MIN_FAILURES.notice,
  what: "requests were refused",
  note: ". Only requests that had a key or were throttled count",
};

export const blockedRequests: ShareAlarm = {
  ...notice("BlockedRequests"),
  ...lockout,
  atLeast: MIN_FAILURES.notice,
  what: "requests were blocked by AWS WAF",
};

export const unloggedRequests: AlarmDefinition = {
  ...notice("UnloggedRequests"),
  ...halfHour,
  kind: "count",
  moreThan: MIN_FAILURES.notice,
  what: "requests reached API Gateway and none reached the access log",
};

export const highLatency: AlarmDefinition = {
  ...notice("HighLatency"),
  ...slow,
  ...quarter,
  what: "responses",
};

/** @param fn the name of a function, such as listPets */
export const throttles = (fn: string): AlarmDefinition => ({
  ...notice("Throttles"),
  ...quarter,
  kind: "count",
  moreThan: 0,
  name: `${pascalCase(fn)}Throttles`,
  what: `Lambda or DynamoDB throttled ${fn}`,
});

/** Returns the alarms of a new version in a canary deployment. @param fn the name of its function */
export function versionAlarms(fn: string) {
  const version = `the new version of ${fn}`;
  const alarm = <Name extends string, T extends Threshold>(name: Name, threshold: T, what: string) =>
    ({ ...notice("Version alarms"), name, minutes: 1, periods: 1, what, ...threshold }) as const;
  const failed = { kind: "share", share: 0.05, atLeast: 1 } as const;
  const refused = { kind: "share", share: 0.995, atLeast: 3 } as const;
  return {
    errors: alarm(
      "Errors",
      { kind: "count", moreThan: 0 },
      `The new version of ${fn} threw, crashed or timed out`,
    ),
    highLatency: alarm("HighLatency", slow, `calls of ${version}`),
    /** of an operation, whose handler never rejects: Lambda's `Errors` does not count its 5xx responses */
    serverErrors: alarm("ServerErrors", failed, `responses of ${version} were a 5xx`),
    /**
     * of the authorizer. Anybody can send keys that are refused, and would stop each deployment if half of the calls were
     * enough. `npm run traffic` sends valid keys, and reports a version that refuses only some of them.
     */
    refusals: alarm("Refusals", refused, `calls of ${version} were refused`),
  };
}
