import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../../infra/names.ts";
import type { Json } from "../../support/json.ts";
import { functionNames, readResources } from "../../support/resources.ts";
import { everyStage } from "../../support/stages.ts";

describe.each(everyStage)("in $name, $settings", ({ name: stage, assembly }) => {
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
      // Lambda's metrics of the version, and the lines that its handler logs (test/lib/http/handler.test.ts).
      const metrics = alarm.Metrics.flatMap(({ MetricStat }: Json) => MetricStat?.Metric ?? []);
      const logged = name === "authorize" ? [] : [`${name}ServerErrors`]; // it throws, and logs no status
      expect(metrics.map((one: Json) => one.MetricName)).toEqual(["Errors", ...logged, "Invocations"]);
      const filters = find("Logs::MetricFilter").filter((one) => one.LogGroupName === LoggingConfig.LogGroup);
      const filtered = filters.map(
        ({ MetricTransformations: [{ MetricNamespace, MetricName, Dimensions }] }) => ({
          Namespace: MetricNamespace,
          MetricName,
          Dimensions: Dimensions.map(({ Key }: Json) => ({ Name: Key, Value: version })),
        }),
      );
      expect(metrics.slice(1, -1)).toEqual(filtered);
      for (const { Dimensions } of metrics)
        expect(Dimensions.map(({ Value }: Json) => Value)).toContain(version);
    },
  );

  it("deploys one function after the other", () => {
    const earlier = (id: string): string[] => {
      const { DependsOn = [] } = aliases.find((alias) => alias.id === id) ?? {};
      return [DependsOn].flat().flatMap((name) => [name, ...earlier(name)]);
    };
    const places = aliases.map(({ id }) => aliases.filter((other) => earlier(id).includes(other.id)).length);
    expect(places.sort()).toEqual([...aliases.keys()]);
  });
});
