import type { Json } from "./json.ts";

/** Names the series of a metric. */
const seriesOf = ({ Namespace, MetricName, Dimensions = [] }: Json): string =>
  JSON.stringify([Namespace, MetricName, Dimensions.map(({ Name, Value }: Json) => [Name, Value]).sort()]);

/** A value that a metric has so often in each minute from `start` on and before `end`, in minutes since 1970. */
type Span = { start: number; end: number; value: number; times: number };

/** The values that CloudWatch has of each metric. */
export class Metrics {
  readonly #spans = new Map<string, Span[]>();

  /**
   * @param metric a Namespace, a MetricName and Dimensions, as in a template
   * @param times how often the metric has the value in a minute
   */
  record(start: number, metric: Json, value: number, times = 1, minutes = 1): void {
    const key = seriesOf(metric);
    this.#spans.set(key, [...(this.#spans.get(key) ?? []), { start, end: start + minutes, value, times }]);
  }

  /** Returns a statistic of the minutes before `end`, or NaN if there is no value. */
  statistic({ key, Stat }: { key: string; Stat: string }, minutes: number, end: number): number {
    const spans = this.#spans.get(key) ?? [];
    const countOf = (span: Span) =>
      span.times * Math.max(0, Math.min(end, span.end) - Math.max(end - minutes, span.start));
    const count = spans.reduce((sum, span) => sum + countOf(span), 0);
    if (count === 0) return Number.NaN;
    if (Stat === "Sum") return spans.reduce((sum, span) => sum + span.value * countOf(span), 0);
    if (Stat === "SampleCount") return count;
    const [, percent] = /^p(\d+)$/.exec(Stat) ?? [];
    if (percent === undefined) throw new Error(`This test cannot compute ${Stat}.`);
    let rest = (count * Number(percent)) / 100;
    for (const span of spans.toSorted((a, b) => a.value - b.value)) {
      rest -= countOf(span);
      if (rest <= 0) return span.value;
    }
    return Number.NaN;
  }
}

/** The member of a log line that a selector such as `$.message.status` names. */
const select = (selector: string, line: Json): Json =>
  selector
    .split(".")
    .slice(1)
    .reduce((value, member) => value?.[member], line);

/** Whether a log line matches a filter pattern (CloudWatch Logs guide, "Filter pattern syntax"). */
const matches = (pattern: string, line: Json): boolean =>
  pattern.split("&&").every((condition) => {
    const [, selector = "", number, operator, text = ""] =
      /(\$[\w.]+) (?:>= (\d+)|(!?=) "([^"]*)")/.exec(condition) ?? [];
    if (!selector) throw new Error(`This test cannot evaluate ${condition}.`);
    const value = select(selector, line);
    if (number) return value >= Number(number);
    const equal = text.endsWith("*") ? value.startsWith(text.slice(0, -1)) : value === text;
    return equal === (operator === "=");
  });

/** The metrics that metric filters count from a log line. */
export const countedFrom = (filters: Json[], line: Json): Json[] =>
  filters
    .filter(({ FilterPattern }) => matches(FilterPattern, line))
    .flatMap(({ MetricTransformations }) => MetricTransformations)
    .map(({ MetricNamespace: Namespace, MetricName, MetricValue, Dimensions = [] }) => {
      if (MetricValue !== "1") throw new Error(`${MetricName} counts ${MetricValue} for a line.`);
      const named = Dimensions.map(({ Key, Value }: Json) => ({ Name: Key, Value: select(Value, line) }));
      return { Namespace, MetricName, Dimensions: named };
    });

/** The metrics that an alarm reads, with their ids in its expression. */
export const metricsOf = ({ Metrics, ...alarm }: Json): Json[] =>
  Metrics
    ? Metrics.filter(({ MetricStat }: Json) => MetricStat).map(
        ({ Id, MetricStat: { Metric, Period, Stat } }: Json) => ({ ...Metric, Period, Stat, Id }),
      )
    : [{ ...alarm, Stat: alarm.Statistic ?? alarm.ExtendedStatistic, Id: "value" }];

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
  const read = metricsOf(alarm).map((metric) => ({ ...metric, key: seriesOf(metric) }));
  const { Expression = read[0]?.Id } = alarm.Metrics?.find(({ ReturnData }: Json) => ReturnData) ?? {};
  const names = [...Object.keys(functions), "EPOCH", ...read.map(({ Id }) => Id)];
  const compute = new Function(...names, `return ${Expression};`);
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
