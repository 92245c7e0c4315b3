import * as definitions from "../../infra/monitoring/alarm-definitions.ts";
import { anchorOf, table } from "./report.ts";

/** Returns what a metric has to exceed: a share with the least number of failures, milliseconds, or any number. */
function thresholdOf({
  share,
  atLeast,
  atLeastIfAllFail,
  milliseconds,
}: definitions.AlarmDefinition): string {
  if (share === undefined) return milliseconds ? `${milliseconds} ms` : "0";
  const least = [atLeastIfAllFail, atLeast].filter((number) => number !== undefined);
  return `${definitions.percent(share)}, at least ${least.join(" or ")}`;
}

/** Returns the alarms of a stage as a table, with one row for those that each function has. */
export function alarmTable(): string {
  const { burnRateAlarms, refusals, blockedRequests, highLatency, throttles } = definitions;
  const ofStage = [...burnRateAlarms, refusals, blockedRequests, highLatency, throttles("<function>")];
  const ofVersion = definitions.versionAlarms("<function>");
  const row = (name: string, alarm: definitions.AlarmDefinition) => [
    `\`${name}\``,
    alarm.topic,
    alarm.description.replace("<function>", "the function"),
    thresholdOf(alarm),
    `[${alarm.section}](#${anchorOf(alarm.section)})`,
  ];
  return table(
    ["Alarm, after `animal-store-<stage>-`", "", "Triggered when", "Threshold", "What to do"],
    [
      ...ofStage.map((alarm) => row(`Alarms${alarm.name}...`, alarm)),
      row("<function>-version-<n>-Errors", ofVersion.errors),
      row("<function>-version-<n>-HighLatency", ofVersion.highLatency),
      row("<operation>-version-<n>-ServerErrors", ofVersion.serverErrors),
      row("authorize-version-<n>-Refusals", ofVersion.refusals),
    ],
    "text",
  );
}
