import * as definitions from "../../infra/monitoring/alarm-definitions.ts";
import { anchorOf } from "../../infra/names.ts";

/** Returns the least number of failures that triggers an alarm with a share; empty for other alarms. */
function leastOf(alarm: definitions.AlarmDefinition): string {
  if (alarm.kind !== "share") return "";
  const { atLeast, atLeastIfAllFail } = alarm;
  const all = atLeastIfAllFail === undefined ? "" : `, or ${atLeastIfAllFail} if all requests fail`;
  return ` from ${atLeast} ${atLeast === 1 ? "failure" : "failures"} on${all},`;
}

/** Returns the alarms of a stage as a list, with one entry for those that each function has. */
export function alarmList(): string {
  const { burnRateAlarms, refusals, blockedRequests, unloggedRequests, highLatency, throttles } = definitions;
  const ofStage = [
    ...burnRateAlarms,
    refusals,
    blockedRequests,
    unloggedRequests,
    highLatency,
    throttles("<function>"),
  ];
  const ofVersion = definitions.versionAlarms("<function>");
  const entry = (name: string, alarm: definitions.AlarmDefinition) =>
    `- \`${name}\`, a ${alarm.topic}${leastOf(alarm) || ","} see [${alarm.section}](#${anchorOf(alarm.section)}):
  ${definitions.triggerOf(alarm).description.replace("<function>", "the function")}.`;
  return [
    ...ofStage.map((alarm) => entry(`Alarms${alarm.name}...`, alarm)),
    entry("<function>-version-<n>-Errors", ofVersion.errors),
    entry("<function>-version-<n>-HighLatency", ofVersion.highLatency),
    entry("<operation>-version-<n>-ServerErrors", ofVersion.serverErrors),
    entry("authorize-version-<n>-Refusals", ofVersion.refusals),
  ].join("\n");
}
