import type { Json } from "./json.ts";

// What the metric filters of a template count, with patterns of `=`, `!=` and `>=`, and what its alarms read.

/** The member of a log line that a path such as `message.status` names. */
export const select = (path: string, line: Json): Json =>
  path.split(".").reduce((value, member) => value?.[member], line);

/** Whether a log line matches a filter pattern (CloudWatch Logs guide, "Filter pattern syntax"). */
const matches = (pattern: string, line: Json): boolean => {
  const conditions = /\$\.([\w.]+) (?:>= (\d+)|(!?=) "([^"]*)")/g;
  const evaluated = pattern.replace(conditions, (_, path, number, operator, text) => {
    const value = select(path, line);
    if (number) return String(value >= Number(number));
    const equal = text.endsWith("*") ? value.startsWith(text.slice(0, -1)) : value === text;
    return String(equal === (operator === "="));
  });
  const [, expression] = /^\{((?:true|false|[ ()|&])+)\}$/.exec(evaluated) ?? [];
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
      const named = Dimensions.map(({ Key, Value }: Json) => ({
        Name: Key,
        Value: select(Value.slice(2), line),
      }));
      return { Namespace, MetricName, Dimensions: named };
    });

/**
 * Evaluates the expression of an alarm for one period.
 *
 * @param sumOf returns the sum of a metric in the period; undefined if it has no data
 */
export function evaluateAlarm({ Metrics }: Json, sumOf: (metric: Json) => number | undefined): number {
  const entry = (id: string): Json => Metrics.find(({ Id }: Json) => Id === id);
  const evaluate = ({ Expression, MetricStat }: Json): number | undefined => {
    if (MetricStat) return sumOf(MetricStat.Metric);
    const ids = [...new Set<string>(Expression.match(/\b[a-z]\w*/g))];
    const functions = {
      IF: (a: unknown, b: unknown, c: unknown) => (a ? b : c),
      FILL: (a: unknown, b: unknown) => a ?? b,
    };
    const names = [...Object.keys(functions), ...ids];
    return new Function(...names, `return ${Expression};`)(
      ...Object.values(functions),
      ...ids.map((id) => evaluate(entry(id))),
    );
  };
  return evaluate(Metrics.find(({ ReturnData }: Json) => ReturnData)) ?? Number.NaN;
}

/** The metrics that an alarm reads. */
export const metricsOf = ({ Metrics, ...alarm }: Json): Json[] =>
  Metrics
    ? Metrics.flatMap(({ MetricStat }: Json) =>
        MetricStat ? { ...MetricStat.Metric, Period: MetricStat.Period } : [],
      )
    : [alarm];
