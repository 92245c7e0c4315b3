import { expect, it } from "@jest/globals";
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
const notified = (failures: number, calls: number, minutes: number) => [
  ...new Set(
    burnRateAlarms
      .filter((alarm) => {
        return isTriggered(alarm, failures * Math.min(minutes, alarm.minutes), calls * alarm.minutes);
      })
      .map(({ topic }) => topic),
  ),
];

it.each([
  ["one operation", 1],
  ["every operation", operations.length],
])("a crash of %s pages within 10 minutes, from 2.5 failures a minute on", (_which, failing) => {
  for (const rate of [2.5, 60])
    expect(notified(rate * failing, rate * operations.length, 10 - DELAY)).toContain("page");
});

it("a crash of one operation that comes back after 20 minutes pages again within 10 minutes, from 2.5 failures a minute on", () => {
  const ended = burnRateAlarms.filter(({ topic, minutes }) => topic === "page" && minutes + DELAY <= 20);
  for (const rate of [2.5, 60]) {
    const [failures, calls] = [rate * (10 - DELAY), rate * operations.length];
    expect(ended.map((alarm) => isTriggered(alarm, failures, calls * alarm.minutes))).toContain(true);
  }
});

it.each([
  [0.9, []],
  [1.1, ["notice"]],
  [7, ["page", "notice"]],
  [100, ["page", "notice"]],
])(
  "5xx that come %d times faster than the objective allows notify %j before an eighth of its budget is used",
  (speed, topics) => {
    const calls = 1000;
    expect(notified(calls * speed * ERROR_BUDGET, calls, MONTH / 8 / speed)).toEqual(topics);
  },
);

it("a few failures notify nobody, however few the calls are", () => {
  for (const alarm of burnRateAlarms)
    expect([alarm, isTriggered(alarm, alarm.topic === "page" ? 11 : 19, 30)]).toEqual([alarm, false]);
});

it.each([refusals, blockedRequests])(
  "$name: a notice if all requests fail for 30 minutes, from 1 request a minute on",
  (alarm) => {
    expect(alarm.topic).toBe("notice");
    for (const rate of [1, 180]) {
      const failures = rate * (30 - DELAY);
      expect(isTriggered(alarm, failures, failures)).toBe(true);
    }
  },
);

it("one client with an expired key that retries every 10 seconds causes no notice while another key works", () => {
  expect(isTriggered(refusals, 6 * 30, 6 * 30 + 1)).toBe(false);
});

it("a new version is rolled back if its only call fails, and not for a client with an expired key, or one who guesses keys", () => {
  const { errors, serverErrors, refusals } = versionAlarms("fn");
  expect(triggerOf(errors).threshold).toBe(0);
  expect(isTriggered(serverErrors, 1, 1)).toBe(true);
  // At a call a second, 6 calls a minute are those of the new version, or of one client without others.
  const refused = [1, 2, 3, 6].map((failures) => isTriggered(refusals, failures, 6));
  expect([isTriggered(refusals, 1, 1), ...refused]).toEqual([false, false, false, false, true]);
  // One address guesses as fast as AWS WAF lets it, and only `npm run traffic` sends a valid key, once a second.
  for (const { name, wafRateLimits } of deployedStages.filter(({ canaryDeployment }) => canaryDeployment)) {
    const guesses = (wafRateLimits?.perIpPerMinute ?? 0) / 10;
    expect([name, isTriggered(refusals, guesses, guesses + 6)]).toEqual([name, false]);
  }
});
