import type { Json } from "./json.ts";

/** Returns what a selector such as `$.message.status` finds in a line of a log. */
const select = (line: Json, selector: string): Json =>
  selector
    .split(".")
    .slice(1)
    .reduce((value, name) => value?.[name], line);

/** Whether a line matches a filter pattern of `=`, `!=` and `>=` (CloudWatch Logs guide, "Filter pattern syntax"). */
export function matches(pattern: string, line: Json): boolean {
  const conditions = /(\$[\w.]+) (!?=|>=) "?([\w*-]*)"?/g;
  const evaluated = pattern.replace(conditions, (_, selector, operator, text) => {
    const value = select(line, selector);
    if (operator === ">=") return String(typeof value === "number" && value >= Number(text));
    const isEqual = new RegExp(`^${text.replace("*", ".*")}$`).test(String(value));
    return String(isEqual === (operator === "="));
  });
  return new Function(`return ${evaluated.slice(1, -1)};`)();
}
