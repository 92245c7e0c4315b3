import type { Json } from "../../infra/assembly/intrinsics.ts";

const keys = new WeakMap<object, string>();
/** Names the series of a metric. */
function seriesOf(metric: Json): string {
  const { Namespace, MetricName, Dimensions = [] } = metric;
  const key =
    keys.get(metric) ??
    JSON.stringify([Namespace, MetricName, Dimensions.map(({ Name, Value }: Json) => [Name, Value]).sort()]);
  keys.set(metric, key);
  return key;
}

type Values = Map<number, number>;

/** The values of a metric by the minute since 1970, and the running totals that make long windows fast. */
class Series {
  readonly values = new Map<number, Values>();
  #totals: { first: number; sums: number[]; counts: number[] } | undefined;

  record(minute: number, value: number, times: number): void {
    const values = this.values.get(minute) ?? new Map();
    this.values.set(minute, values.set(value, (values.get(value) ?? 0) + times));
    this.#totals = undefined;
  }

  /** Returns the sum and the number of the values from a minute on, and before another. */
  total(start: number, end: number): { sum: number; count: number } {
    this.#totals ??= this.#addUp();
    const { first, sums, counts } = this.#totals;
    const until = (totals: number[], minute: number) =>
      totals[Math.min(Math.max(minute - first, 0), totals.length - 1)] ?? 0;
    return { sum: until(sums, end) - until(sums, start), count: until(counts, end) - until(counts, start) };
  }

  #addUp() {
    const minutes = [...this.values.keys()];
    const first = minutes.reduce((least, minute) => Math.min(least, minute));
    const last = minutes.reduce((most, minute) => Math.max(most, minute));
    const [sums, counts] = [[0], [0]];
    for (let n = 0; n <= last - first; n++) {
      const values = [...(this.values.get(first + n) ?? [])];
      sums.push((sums[n] ?? 0) + values.reduce((sum, [value, times]) => sum + value * times, 0));
      counts.push((counts[n] ?? 0) + values.reduce((sum, [, times]) => sum + times, 0));
    }
    return { first, sums, counts };
  }
}

/** The values that CloudWatch has of each metric. */
export class Metrics {
  readonly #series = new Map<string, Series>();

  /** @param metric a Namespace, a MetricName and Dimensions, as in a template */
  record(minute: number, metric: Json, value: number, times = 1): void {
    const key = seriesOf(metric);
    const series = this.#series.get(key) ?? new Series();
    this.#series.set(key, series);
    series.record(minute, value, times);
  }

  /** Returns a statistic of the minutes before `end`, or NaN if there is no value. */
  statistic({ key, Stat }: { key: string; Stat: string }, minutes: number, end: number): number {
    const series = this.#series.get(key);
    const { sum, count } = series?.total(end - minutes, end) ?? { sum: 0, count: 0 };
    if (!series || count === 0) return Number.NaN;
    if (Stat === "Sum") return sum;
    if (Stat === "SampleCount") return count;
    const [, percent] = /^p(\d+)$/.exec(Stat) ?? [];
    if (percent === undefined) throw new Error(`This test cannot compute ${Stat}.`);
    const all = Array.from({ length: minutes }, (_, n) => [
      ...(series.values.get(end - minutes + n) ?? []),
    ]).flat();
    let seen = 0;
    for (const [value, times] of all.sort(([a], [b]) => a - b)) {
      seen += times;
      if (seen >= (count * Number(percent)) / 100) return value;
    }
    return Number.NaN;
  }
}

/** The metrics that an alarm reads, with their ids in its expression if it has one. */
export const metricsOf = (alarm: Json): Json[] =>
  (
    alarm.Metrics?.filter(({ MetricStat }: Json) => MetricStat) ?? [
      { MetricStat: { ...alarm, Metric: alarm } },
    ]
  ).map(
    ({ Id, MetricStat: { Metric, Period, Stat = alarm.Statistic ?? alarm.ExtendedStatistic } }: Json) => ({
      ...Metric,
      Period,
      Stat,
      Id,
      key: seriesOf(Metric),
    }),
  );

/** The length of the periods of an alarm, in minutes. All its metrics must have the same (CloudWatch guide, "Alarms"). */
export function periodOf(alarm: Json): number {
  const [period = 0, ...others] = new Set(metricsOf(alarm).map(({ Period }) => Period));
  if (others.length > 0) throw new Error("The metrics of the alarm have several periods.");
  return period / 60;
}

const functions = {
  FILL: (value: number, filler: number) => (Number.isNaN(value) ? filler : value),
  IF: (condition: boolean, value: number, other: number) => (condition ? value : other),
};

/**
 * Returns a function that computes what an alarm compares for the period that ends at a minute: NaN without data. Source:
 * CloudWatch guide, "Metric math syntax and functions".
 */
function compile(alarm: Json): (metrics: Metrics, end: number) => number {
  const period = periodOf(alarm);
  const read = metricsOf(alarm);
  const [expression, ...others] = (alarm.Metrics ?? []).filter(({ Expression }: Json) => Expression);
  if (others.length > 0) throw new Error("The alarm has several expressions.");
  const ids = expression ? read.map(({ Id }) => Id) : ["value"];
  const names = [...Object.keys(functions), "EPOCH", ...ids];
  const compute = new Function(...names, `return ${expression?.Expression ?? "value"};`);
  return (metrics, end) => {
    const values = read.map((metric) => metrics.statistic(metric, period, end));
    return compute(...Object.values(functions), () => (end - period) * 60, ...values);
  };
}

/**
 * Returns a function that says whether an alarm is in ALARM at a minute. CloudWatch reads more periods than it needs, and
 * evaluates the newest that have data (CloudWatch guide, "Configuring how CloudWatch alarms treat missing data").
 */
export function alarmState(alarm: Json): (metrics: Metrics, minute: number) => boolean {
  const { ComparisonOperator, EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold } = alarm;
  if (ComparisonOperator !== "GreaterThanThreshold") throw new Error(`Cannot compare: ${ComparisonOperator}`);
  const [valueAt, period] = [compile(alarm), periodOf(alarm)];
  return (metrics, minute) => {
    const found: number[] = [];
    for (let n = 0; n < EvaluationPeriods + 2 && found.length < EvaluationPeriods; n++) {
      const value = valueAt(metrics, minute - n * period);
      if (!Number.isNaN(value)) found.push(value);
    }
    const missing = alarm.TreatMissingData === "breaching" ? EvaluationPeriods - found.length : 0;
    return found.filter((value) => value > Threshold).length + missing >= DatapointsToAlarm;
  };
}
