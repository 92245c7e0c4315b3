import { describe, expect, it } from "@jest/globals";
import {
  blockedRequests,
  burnRateAlarms,
  ERROR_BUDGET,
  refusals,
  type ShareAlarm,
  triggerOf,
  versionAlarms,
} from "../../../infra/monitoring/alarm-definitions.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";

// What docs/decisions/alarms.md says of the alarms, computed from their thresholds. The reviewed templates show what each
// alarm measures, and access-log.integration.test.ts which responses count.

/** The metrics of a request reach CloudWatch within 2 minutes, and those that are counted from the log 3 minutes later. */
const DELAY = 5;
const MONTH = 30 * 24 * 60;

/** Whether an alarm is triggered if so many calls of its window fail. */
const isTriggered = (
  { share, atLeast, atLeastIfAllFail = atLeast }: ShareAlarm,
  failures: number,
  calls: number,
) => failures >= (calls > failures ? atLeast : atLeastIfAllFail) && failures / calls > share;

/** The topics that 5xx notify: so many a minute, among so many calls a minute, for so many minutes after healthy days. */
const notified = (failures: number, calls: number, minutes: number, alarms = burnRateAlarms) => {
  const triggered = alarms.filter((alarm) =>
    isTriggered(alarm, failures * Math.min(minutes, alarm.minutes), calls * alarm.minutes),
  );
  return [...new Set(triggered.map(({ topic }) => topic))];
};

/** The numbers of operations for which docs/decisions/alarms.md promises a page. */
const counts = Array.from({ length: Math.max(60, operations.length) }, (_, n) => n + 1);
/** Expects a page. If none comes for a number of operations, change `burnRates`, or what the document promises. */
const expectPage = (topicsFor: (count: number) => string[]) => {
  const first = counts.find((count) => !topicsFor(count).includes("page"));
  expect({ "first number of operations without a page": first }).toEqual({});
};

describe.each([2.5, 60])("%d failures a minute", (failures) => {
  /** How long a crash of one function lasts until the page, without the delay of the metrics. */
  const minutes = (count: number) => Math.max(10 - DELAY, count);

  it("of all requests page within 10 minutes", () => {
    expect(notified(failures, failures, 10 - DELAY)).toContain("page");
  });

  it("of one operation page within 5 minutes, and one more for each operation", () =>
    expectPage((count) => notified(failures, failures * count, minutes(count))));

  it("of one operation page again after 20 minutes, or 65 with more than 16 operations", () =>
    expectPage((count) => {
      const ended = burnRateAlarms.filter((alarm) => alarm.minutes + DELAY <= (count <= 16 ? 20 : 65));
      return notified(failures, failures * count, minutes(count), ended);
    }));
});

it.each([
  { speed: 0.9, topics: [] },
  { speed: 1.1, topics: ["notice"] },
  { speed: 7, topics: ["page", "notice"] },
  { speed: 100, topics: ["page", "notice"] },
])("5xx $speed times the objective notify $topics within an eighth of the budget", ({ speed, topics }) => {
  const calls = 1000;
  expect(notified(calls * speed * ERROR_BUDGET, calls, MONTH / 8 / speed)).toEqual(topics);
});

it("a few failures notify nobody, however few the calls are", () => {
  const triggered = burnRateAlarms.filter((alarm) =>
    isTriggered(alarm, alarm.topic === "page" ? 11 : 19, 30),
  );
  expect(triggered).toEqual([]);
});

it.each([refusals, blockedRequests])("$name: a notice if all requests fail for 30 minutes", (alarm) => {
  expect(alarm.topic).toBe("notice");
  for (const failures of [1, 180].map((rate) => rate * (30 - DELAY)))
    expect({ failures, isTriggered: isTriggered(alarm, failures, failures) }).toMatchObject({
      isTriggered: true,
    });
});

it("a client that retries an expired key every 10 seconds causes no notice beside others", () => {
  expect(refusals.atLeast).toBeGreaterThan(6 * 30);
});

it("a new version is rolled back if its only call fails", () => {
  const { errors, serverErrors } = versionAlarms("fn");
  expect({ errors: triggerOf(errors).threshold, atLeast: serverErrors.atLeast }).toEqual({
    errors: 0,
    atLeast: 1,
  });
});

it("a new authorizer is rolled back only if it refuses every call of a minute", () => {
  const { refusals } = versionAlarms("authorize");
  // At a call a second, 6 calls a minute are those of the new version, or of one client without others.
  const calls = [[1, 1], ...[1, 2, 3, 5, 6].map((failures) => [failures, 6])] as [number, number][];
  expect(calls.filter((call) => isTriggered(refusals, ...call))).toEqual([[6, 6]]);
});

// One address guesses as fast as AWS WAF lets it, and only `npm run traffic` sends a valid key, once a second.
it("an address that guesses keys does not roll back a new version", () => {
  for (const { name, wafRateLimits } of deployedStages.filter(({ canaryDeployment }) => canaryDeployment)) {
    const guesses = (wafRateLimits?.perIpPerMinute ?? 0) / 10;
    const isRolledBack = isTriggered(versionAlarms("authorize").refusals, guesses, guesses + 6);
    expect({ name, isRolledBack }).toEqual({ name, isRolledBack: false });
  }
});
