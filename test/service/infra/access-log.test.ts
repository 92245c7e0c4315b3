import { describe, expect, it } from "@jest/globals";
import { stackName, stages } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import type { Json } from "../../../local/assembly/intrinsics.ts";
import { formatAccessLog } from "../../../local/gateway/context.ts";
import { readResources } from "../../support/resources.ts";

// What CloudWatch counts from the lines of the access log, for the dashboard.

/** Whether a log line matches a filter pattern that compares texts (CloudWatch Logs guide, "Filter pattern syntax"). */
const matches = (pattern: string, line: Json): boolean =>
  pattern.split("&&").every((condition) => {
    const [, member = "", operator, text] = /\$\.(\w+) (!?=) "([^"]*)"/.exec(condition) ?? [];
    if (text === undefined) throw new Error(`This test cannot evaluate ${condition}.`);
    const equal = text.endsWith("*") ? line[member].startsWith(text.slice(0, -1)) : line[member] === text;
    return equal === (operator === "=");
  });

describe.each(stages)("in $name", ({ name }) => {
  const { find, only } = readResources(process.env.TEST_ASSEMBLY, stackName(name));
  const { AccessLogSetting } = only("ApiGateway::Stage");
  const filters = find("Logs::MetricFilter")
    .map(({ Properties }) => Properties)
    .filter(({ LogGroupName }) => AccessLogSetting.DestinationArn.endsWith(`:${LogGroupName}`));
  const key = { "authorizer.keyId": "key_1" };

  it.each<[status: number, route: string, variables: object, counted: string[]]>([
    [200, "GET /pets", key, []],
    [404, "GET /pets", key, []],
    [500, "GET /pets", key, ["ServerErrors by operation GET /pets"]],
    [503, "POST /pets", {}, ["ServerErrors by operation POST /pets"]],
    ...operations
      .filter((operation) => "deprecation" in operation)
      .map(({ method, path }): [number, string, object, string[]] => [
        200,
        `${method} ${path}`,
        key,
        ["DeprecatedCalls by keyId key_1"],
      ]),
    [401, "GET /pets/{petId}", {}, []], // without a key there is nobody to ask
  ])("a %d of %s with %j is counted as %j", (status, route, variables, counted) => {
    const [httpMethod, resourcePath] = route.split(" ");
    const text = formatAccessLog(AccessLogSetting.Format, { status, httpMethod, resourcePath, ...variables });
    const line = JSON.parse(text);
    const metrics = filters
      .filter(({ FilterPattern }) => matches(FilterPattern, line))
      .flatMap(({ MetricTransformations }) => MetricTransformations)
      .map(({ MetricName, MetricValue, Dimensions: [{ Key, Value }] }) => {
        expect(MetricValue).toBe("1");
        return `${MetricName} by ${Key} ${line[Value.replace("$.", "")]}`;
      });
    expect(metrics).toEqual(counted);
  });

  it("the dashboard draws each of these metrics, which belong to this stage", () => {
    for (const { Properties } of find("Logs::MetricFilter"))
      for (const { MetricNamespace } of Properties.MetricTransformations)
        expect(MetricNamespace).toBe(`AnimalStore/${stackName(name)}`);
    const { widgets } = JSON.parse(only("CloudWatch::Dashboard").DashboardBody);
    const drawn = widgets.flatMap(({ properties }: Json) => (properties.metrics ?? []).flat());
    const expressions = drawn.flatMap(({ expression }: Json) => expression ?? []).join("\n");
    for (const { MetricNamespace, MetricName, Dimensions } of filters.flatMap(
      ({ MetricTransformations }) => MetricTransformations,
    ))
      expect(expressions).toContain(
        `SEARCH('{"${MetricNamespace}",${Dimensions[0].Key}} MetricName="${MetricName}"', 'Sum', `,
      );
  });
});
