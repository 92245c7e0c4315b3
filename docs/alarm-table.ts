import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { operations } from "../lib/operations.ts";
import { table } from "./report.ts";

/** An alarm of the reviewed template. */
interface Alarm {
  AlarmName?: string;
  /** ends with the section of docs/incidents.md that says what to do */
  AlarmDescription: string;
  AlarmActions: [string];
  Threshold: number;
  /** milliseconds are the only unit of a metric without an expression that is compared with more than 0 */
  Metrics?: [{ Expression: string }];
}
type Resource = { Type: string; Properties: Alarm };

const functionNames = new RegExp([...operations.map(({ id }) => id), "authorize"].join("|"), "i");

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");

/** Returns what a metric has to exceed: a share with the least number of failures, milliseconds, or any number. */
function thresholdOf({ Threshold, Metrics: [{ Expression }] = [{ Expression: "" }] }: Alarm): string {
  if (!Expression.includes(" / ")) return Threshold > 0 ? `${Threshold} ms` : "0";
  const least = [...new Set(Expression.match(/\b[1-9]\d*\b/g))].sort((a, b) => Number(a) - Number(b));
  return `${Number((Threshold * 100).toFixed(3))} %, at least ${least.join(" or ")}`;
}

/**
 * Returns the alarms of a stage as a table, with one row for those that each function has.
 *
 * @param stackName names the reviewed template
 */
export function alarmTable(stackName: string): string {
  const file = new URL(`../test/infra/templates/${stackName}.yaml`, import.meta.url);
  const resources: Record<string, Resource> = parse(readFileSync(file, "utf8")).Resources;
  const alarms = Object.entries(resources).filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm");
  // Those of a deployment have a name, and come last.
  alarms.sort(([, a], [, b]) => Number("AlarmName" in a.Properties) - Number("AlarmName" in b.Properties));
  const rows = alarms.map(([id, { Properties: alarm }]) => {
    const name = (alarm.AlarmName ?? `${stackName}-${id.slice(0, -8)}...`).replace(/\$\{.*\}/, "<n>");
    const [, text = "", section = ""] = /^(.*)\. See "(.*)" in docs/.exec(alarm.AlarmDescription) ?? [];
    return [
      `\`${name.slice(stackName.length + 1).replace(functionNames, "<function>")}\``,
      alarm.AlarmActions[0].includes("Page") ? "page" : "notice",
      text.replace(functionNames, "the function"),
      thresholdOf(alarm),
      `[${section}](#${anchorOf(section)})`,
    ].join("\t");
  });
  const head = ["Alarm, after `animal-store-<stage>-`", "", "Triggered when", "Threshold", "What to do"];
  const different = [...new Set(rows)].map((row) => row.split("\t"));
  return table(head, different, "text");
}
