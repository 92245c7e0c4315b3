import type { Json } from "./json.ts";

// Evaluates the alarms and metric filters of a template that use Sum, SampleCount and percentiles, metric math with operators,
// FILL, IF and MAX, and patterns with `=`, `!=` and `>=`, and throws for anything else.

// Jest looks a global name such as Math up in a slow way, and these are used millions of times.
const { min, max } = Math;

/** Names the series of a metric. */
const seriesOf = ({ Namespace, MetricName, Dimensions = [] }: Json): string =>
  JSON.stringify([Namespace, MetricName, Dimensions.map(({ Name, Value }: Json) => [Name, Value]).sort()]);

/** A value that a metric has so often in each minute from `start` on and before `end`, in minutes since 1970. */
type Span = { start: number; end: number; value: number; times: number };

/** The values that CloudWatch has of each metric. */
export class Metrics {
  readonly #spans = new Map<string, Span[]>();
  readonly #logDelay: number;

  /** @param logDelay how many minutes later than the others the metrics arrive that CloudWatch Logs counts */
  constructor(logDelay = 0) {
    this.#logDelay = logDelay;
  }

  /**
   * @param metric a Namespace, a MetricName and Dimensions, as in a template
   * @param times how often the metric has the value in a minute
   */
  record(start: number, metric: Json, value: number, times = 1, minutes = 1): void {
    const key = seriesOf(metric);
    this.#spans.set(key, [...(this.#spans.get(key) ?? []), { start, end: start + minutes, value, times }]);
  }

  /** Returns a statistic of the minutes before `end`, as far as they have arrived at `now`, or NaN if there is no value. */
  statistic({ key, Stat }: { key: string; Stat: string }, minutes: number, end: number, now: number): number {
    const arrived = min(end, key.startsWith('["AWS/') ? now : now - this.#logDelay);
    const found: { value: number; times: number }[] = [];
    for (const span of this.#spans.get(key) ?? []) {
      const within = min(arrived, span.end) - max(end - minutes, span.start);
      if (within > 0) found.push({ value: span.value, times: span.times * within });
    }
    const sum = (of: (one: { value: number; times: number }) => number) =>
      found.reduce((total, one) => total + of(one), 0);
    const count = sum(({ times }) => times);
    if (count === 0) return Number.NaN;
    if (Stat === "SampleCount") return count;
    if (Stat === "Sum") return sum(({ value, times }) => value * times);
    const [, percent] = /^p(\d+)$/.exec(Stat) ?? [];
    if (percent === undefined) throw new Error(`This test cannot compute ${Stat}.`);
    let rest = (count * Number(percent)) / 100;
    for (const one of found.toSorted((a, b) => a.value - b.value)) {
      rest -= one.times;
      if (rest <= 0) return one.value;
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
const matches = (pattern: string, line: Json): boolean => {
  const conditions = /(\$[\w.]+) (?:>= (\d+)|(!?=) "([^"]*)")/g;
  const evaluated = pattern.replace(conditions, (_, selector, number, operator, text) => {
    const value = select(selector, line);
    if (number) return String(value >= Number(number));
    const equal = text.endsWith("*") ? value.startsWith(text.slice(0, -1)) : value === text;
    return String(equal === (operator === "="));
  });
  const [, expression] = /^\{((?:true|false|[ ()|])+)\}$/.exec(evaluated) ?? [];
  if (!expression) throw new Error(`This test cannot evaluate ${pattern}.`);
  return new Function(`return ${expression};`)();
};

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
  MAX: (values: number[]) => Math.max(...values),
  /** A division by 0 has no value. */
  finite: (value: number) => (Number.isFinite(value) ? value : Number.NaN),
};

/**
 * Returns a function that computes what an alarm compares for the period that ends at a minute: NaN without data. Source:
 * CloudWatch guide, "Metric math syntax and functions".
 */
function compile(alarm: Json): (metrics: Metrics, end: number, now: number) => number {
  const period = periodOf(alarm);
  const read = metricsOf(alarm).map((metric) => ({ ...metric, key: seriesOf(metric) }));
  // An expression stands before those that it refers to.
  const expressions: Json[] = (alarm.Metrics ?? []).filter(({ Expression }: Json) => Expression).reverse();
  if (expressions.at(-1)?.ReturnData === false) throw new Error("The last expression is not the result.");
  const names = [...Object.keys(functions), ...read.map(({ Id }) => Id)];
  const steps = expressions.map(({ Id, Expression }) => `const ${Id} = finite(${Expression});`);
  const compute = new Function(
    ...names,
    `${steps.join("\n")} return ${(expressions.at(-1) ?? read[0])?.Id};`,
  );
  return (metrics, end, now) =>
    compute(
      ...Object.values(functions),
      ...read.map((metric) => metrics.statistic(metric, period, end, now)),
    );
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
      const value = valueAt(metrics, minute - n * period, minute);
      if (!Number.isNaN(value)) found.push(value);
    }
    const missing = alarm.TreatMissingData === "breaching" ? EvaluationPeriods - found.length : 0;
    return found.filter((value) => value > Threshold).length + missing >= DatapointsToAlarm;
  };
}
