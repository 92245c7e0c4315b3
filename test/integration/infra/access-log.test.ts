import { describe, expect, it } from "@jest/globals";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
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

describe.each(deployedStages)("in $name", ({ name }) => {
  const { find, only } = readResources(process.env.TEST_ASSEMBLY, stackName(name));
  const { AccessLogSetting } = only("ApiGateway::Stage");
  const filters = find("Logs::MetricFilter")
    .map(({ Properties }) => Properties)
    .filter(({ LogGroupName }) => AccessLogSetting.DestinationArn.endsWith(`:${LogGroupName}`));
  const key = { "authorizer.keyId": "key_1" };

  it.each<[status: number, route: string, variables: object, counted: string[]]>([
    [200, "GET /pets", key, []],
    [404, "GET /pets", key, []],
    [500, "GET /pets", key, ["ServerErrors by route GET /pets"]],
    [503, "POST /pets", {}, ["ServerErrors by route POST /pets"]],
    ...operations
      .filter((operation) => "deprecation" in operation)
      .flatMap(({ id, method, path }): [number, string, object, string[]][] => [
        [200, `${method} ${path}`, key, ["DeprecatedCalls by keyId key_1", `${id}DeprecatedCalls`]],
        [200, `${method} ${path}`, { ...key, "authorizer.check": true }, []], // a check of our own
      ]),
    [401, "GET /pets/{petId}", {}, []], // without a key there is nobody to ask
  ])("a %d of %s with %j is counted as %j", (status, route, variables, counted) => {
    const [httpMethod, resourcePath] = route.split(" ");
    const text = formatAccessLog(AccessLogSetting.Format, { status, httpMethod, resourcePath, ...variables });
    const line = JSON.parse(text);
    const metrics = filters
      .filter(({ FilterPattern }) => matches(FilterPattern, line))
      .flatMap(({ MetricTransformations }) => MetricTransformations)
      .map(({ MetricName, MetricValue, Dimensions = [] }) => {
        expect(MetricValue).toBe("1");
        const by = Dimensions.map(({ Key, Value }: Json) => ` by ${Key} ${line[Value.replace("$.", "")]}`);
        return MetricName + by.join("");
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
    const counted = filters.flatMap(({ MetricTransformations }) => MetricTransformations);
    for (const { MetricNamespace, MetricName, Dimensions = [] } of counted)
      for (const { Key } of Dimensions)
        expect(expressions).toContain(
          `SEARCH('{"${MetricNamespace}",${Key}} MetricName="${MetricName}"', 'Sum', `,
        );
  });
});
