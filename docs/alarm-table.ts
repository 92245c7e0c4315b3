import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { operations } from "../lib/operations.ts";
import { anchorOf, table } from "./report.ts";

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

/** Returns what a metric has to exceed: a share with the least number of failures, milliseconds, or any number. */
function thresholdOf({ Threshold, Metrics: [{ Expression }] = [{ Expression: "" }] }: Alarm): string {
  if (!Expression.includes(" / ")) return Threshold > 0 ? `${Threshold} ms` : "0";
  const least = [...new Set(Expression.match(/\b[1-9]\d*\b/g))].sort((a, b) => Number(a) - Number(b));
  return `${Number((Threshold * 100).toFixed(3))} %, at least ${least.join(" or ")}`;
}

/** Returns the name of an alarm that several functions have: the authorizer, all operations, or both. */
function sharedName(names: string[]): string {
  const [name = ""] = names;
  const ofAuthorizer = names.filter((other) => /authorize/i.test(other)).length;
  if (ofAuthorizer === names.length) return name;
  return name.replace(functionNames, ofAuthorizer > 0 ? "<function>" : "<operation>");
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
  const names = new Map<string, string[]>();
  for (const [id, { Properties: alarm }] of alarms) {
    const name = (alarm.AlarmName ?? `${stackName}-${id.slice(0, -8)}...`).replace(/\$\{.*\}/, "<n>");
    const [, text = "", section = ""] = /^(.*)\. See "(.*)" in docs/.exec(alarm.AlarmDescription) ?? [];
    const row = [
      alarm.AlarmActions[0].includes("Page") ? "page" : "notice",
      text.replace(functionNames, "the function"),
      thresholdOf(alarm),
      `[${section}](#${anchorOf(section)})`,
    ].join("\t");
    names.set(row, [...(names.get(row) ?? []), name.slice(stackName.length + 1)]);
  }
  const head = ["Alarm, after `animal-store-<stage>-`", "", "Triggered when", "Threshold", "What to do"];
  const rows = [...names].map(([row, same]) => [`\`${sharedName(same)}\``, ...row.split("\t")]);
  return table(head, rows, "text");
}
