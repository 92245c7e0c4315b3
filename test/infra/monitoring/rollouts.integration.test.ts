import { describe, expect, it, jest } from "@jest/globals";
import { LIVE_ALIAS, stackName } from "../../../infra/names.ts";
import { createHandler } from "../../../lib/http/handler.ts";
import { operations } from "../../../lib/operations.ts";
import { context, requestEvent } from "../../support/event.ts";
import { matches, select } from "../../support/filter-pattern.ts";
import type { Json } from "../../support/json.ts";
import { arnOf, functionNames, readResources } from "../../support/resources.ts";
import { everyStage } from "../../support/stages.ts";

process.env.AWS_LAMBDA_FUNCTION_VERSION = "7";
const log = jest.spyOn(console, "error").mockReturnValue();
await createHandler(operations[0], () => Promise.reject(new Error()))(requestEvent(), context);
/** What Lambda's JSON format makes of what a handler logs when it responds with a 5xx. */
const line = { level: "ERROR", message: log.mock.calls[0]?.[0] };

describe.each(everyStage)("in $name, $settings", ({ name: stage, assembly, retainData, rollout }) => {
  const { find, fn } = readResources(assembly, stackName(stage));
  const aliases = find("Lambda::Alias");
  const callers = [...find("ApiGateway::Authorizer"), ...find("ApiGateway::Method")].map(
    ({ AuthorizerUri, Integration }) => AuthorizerUri ?? Integration.Uri,
  );

  it.each(functionNames)(
    "%s has an alias that API Gateway calls, and an alarm of its new version only",
    (name) => {
      const { id, LoggingConfig } = fn(name);
      const alias = aliases.find(({ FunctionName }) => FunctionName === id);
      expect(callers.filter((uri) => uri?.endsWith(`/functions/${alias.id}/invocations`))).toHaveLength(1);
      const { DeploymentGroupName } = alias.UpdatePolicy.CodeDeployLambdaAliasUpdate;
      const group = find("CodeDeploy::DeploymentGroup").find((one) => one.id === DeploymentGroupName);
      expect(alias.DependsOn).toContain(group.id); // the group has to have the alarm of the new version
      const [{ Name }, ...older] = group.AlarmConfiguration.Alarms;
      const alarm = find("CloudWatch::Alarm").find((one) => one.id === Name);
      expect(older).toEqual([]);

      const version: string = alias.FunctionVersion;
      expect(version).toContain("CurrentVersion");
      expect(alarm.AlarmName).toBe(`${stackName(stage)}-${name}-version-${version}`); // new in each deployment
      // Lambda's metrics of the version, and the lines that its handler logs.
      const metrics = alarm.Metrics.flatMap(({ MetricStat }: Json) => MetricStat?.Metric ?? []);
      const logged = name === "authorize" ? [] : [`${name}ServerErrors`]; // it throws, and logs no status
      expect(metrics.map((one: Json) => one.MetricName)).toEqual(["Errors", ...logged, "Invocations"]);
      const filters = find("Logs::MetricFilter").filter((one) => one.LogGroupName === LoggingConfig.LogGroup);
      for (const { FilterPattern, MetricTransformations } of filters) {
        expect(matches(FilterPattern, line)).toBe(true);
        expect(select(line, MetricTransformations[0].Dimensions[0].Value)).toBe("7");
      }
      expect(alarm.DatapointsToAlarm).toBe(1); // a canary is over before all of its metrics have arrived
      const minutes = Number(/(\d+)MINUTES/.exec(rollout)?.[1] ?? 0);
      expect(alarm.EvaluationPeriods).toBeGreaterThanOrEqual(minutes);
      const filtered = filters.map(
        ({ MetricTransformations: [{ MetricNamespace, MetricName, Dimensions }] }) => ({
          Namespace: MetricNamespace,
          MetricName,
          Dimensions: Dimensions.map(({ Key }: Json) => ({ Name: Key, Value: version })),
        }),
      );
      expect(metrics.slice(1, -1)).toEqual(filtered);
      for (const { Dimensions } of [metrics[0], metrics.at(-1)])
        expect(Dimensions.map(({ Value }: Json) => Value)).toEqual([version, id, `${id}:${LIVE_ALIAS}`]);
    },
  );

  it("an operator can go back: old versions stay, and their roles where data stays", () => {
    const roles = find("IAM::Role").filter(({ id }) =>
      functionNames.some((name) => fn(name).Role === arnOf(id)),
    );
    expect(roles).toHaveLength(functionNames.length);
    for (const { UpdateReplacePolicy, DeletionPolicy } of find("Lambda::Version"))
      expect([UpdateReplacePolicy, DeletionPolicy]).toEqual(["Retain", "RetainExceptOnCreate"]);
    for (const one of roles) expect(one.UpdateReplacePolicy).toBe(retainData ? "Retain" : "Delete");
  });

  it("deploys one function after the other", () => {
    const earlier = (id: string): string[] => {
      const { DependsOn = [] } = aliases.find((alias) => alias.id === id) ?? {};
      return [DependsOn].flat().flatMap((name) => [name, ...earlier(name)]);
    };
    const places = aliases.map(({ id }) => aliases.filter((other) => earlier(id).includes(other.id)).length);
    expect(places.sort()).toEqual([...aliases.keys()]);
  });
});
