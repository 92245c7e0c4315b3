import * as definitions from "../../infra/monitoring/alarm-definitions.ts";
import { anchorOf, table } from "./report.ts";

const { blockedRequests, highLatency, refusals, serverErrors, throttles, versionAlarms } = definitions;

/** Returns what a metric has to exceed: a share with the least number of failures, milliseconds, or any number. */
function thresholdOf({
  share,
  atLeast,
  atLeastIfAllFail,
  milliseconds,
}: definitions.AlarmDefinition): string {
  if (share === undefined) return milliseconds ? `${milliseconds} ms` : "0";
  const least = [atLeastIfAllFail, atLeast].filter((number) => number !== undefined);
  return `${Number((share * 100).toFixed(3))} %, at least ${least.join(" or ")}`;
}

/** Returns the alarms of a stage as a table, with one row for those that each function has. */
export function alarmTable(): string {
  const ofStage = [...serverErrors, refusals, blockedRequests, highLatency, throttles("<function>")];
  const { errors, highLatency: slow, serverErrors: failed } = versionAlarms("<function>");
  const ofVersion = [
    ["<function>", errors],
    ["<function>", slow],
    ["<operation>", failed],
    ["authorize", versionAlarms("<function>").refusals],
  ] as const;
  const alarms: [name: string, definitions.AlarmDefinition][] = [
    ...ofStage.map((alarm): [string, definitions.AlarmDefinition] => [`Alarms${alarm.name}...`, alarm]),
    ...ofVersion.map(([fn, alarm]): [string, definitions.AlarmDefinition] => [
      `${fn}-version-<n>-${alarm.name}`,
      alarm,
    ]),
  ];
  const head = ["Alarm, after `animal-store-<stage>-`", "", "Triggered when", "Threshold", "What to do"];
  const rows = alarms.map(([name, alarm]) => [
    `\`${name}\``,
    alarm.topic,
    alarm.description.replace("<function>", "the function"),
    thresholdOf(alarm),
    `[${alarm.section}](#${anchorOf(alarm.section)})`,
  ]);
  return table(head, rows, "text");
}
