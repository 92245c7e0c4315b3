import { describe, expect, it } from "@jest/globals";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { formatAccessLog } from "../../../local/gateway/context.ts";
import { countedFrom } from "../../support/cloudwatch.ts";
import { readResources } from "../../support/resources.ts";

// What CloudWatch counts from the lines of the access log, for the dashboard.

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
    const metrics = countedFrom(filters, JSON.parse(text)).map(({ MetricName, Dimensions }) =>
      [MetricName, ...Dimensions.map(({ Name, Value }: Json) => `by ${Name} ${Value}`)].join(" "),
    );
    expect(metrics).toEqual(counted);
  });

  it("the dashboard draws each of these metrics, which belong to this stage", () => {
    const { DashboardBody } = only("CloudWatch::Dashboard");
    const transformations = find("Logs::MetricFilter").map(
      ({ Properties }) => Properties.MetricTransformations,
    );
    for (const { MetricNamespace } of transformations.flat())
      expect(MetricNamespace).toBe(`AnimalStore/${stackName(name)}`);
    const counted = filters.flatMap(({ MetricTransformations }) => MetricTransformations);
    for (const { MetricNamespace, MetricName, Dimensions = [] } of counted)
      for (const { Key } of Dimensions)
        expect(DashboardBody).toContain(
          JSON.stringify(`{"${MetricNamespace}",${Key}} MetricName="${MetricName}"`).slice(1, -1),
        );
  });
});
