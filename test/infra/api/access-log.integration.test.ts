import { describe, expect, it } from "@jest/globals";
import { formatAccessLog } from "../../../emulator/gateway/context.ts";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { countedFrom } from "../../support/cloudwatch.ts";
import type { Json } from "../../support/json.ts";
import { readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

describe.each(deployedStages)("the access log of $name", ({ name }) => {
  const stack = stackName(name);
  const { find, only } = readResources(shared.assembly, stack);
  const { Format, DestinationArn } = only("ApiGateway::Stage").AccessLogSetting;
  const filters = find("Logs::MetricFilter").filter((one) => DestinationArn.endsWith(`:${one.LogGroupName}`));
  const key = { "authorizer.keyId": "key_1" };

  it("has no text of a client, and no error message, which can repeat it", () => {
    const { requestId, extendedRequestId, sourceIp, ...fields } = JSON.parse(Format);
    // The ids that clients quote, and the address of the connection.
    expect({ requestId, extendedRequestId, sourceIp }).toEqual({
      requestId: "$context.requestId",
      extendedRequestId: "$context.extendedRequestId",
      sourceIp: "$context.identity.sourceIp",
    });
    expect(Object.values(fields).join()).not.toMatch(
      /\$context\.(path|identity|error\.message|integration\.error|requestOverride|xrayTraceId)/,
    );
  });

  it.each<[status: number, route: string, variables: object, counted: string[]]>([
    [404, "GET /pets", key, ["Served"]],
    [404, "GET /{any+}", {}, []],
    [405, "ANY /pets", key, []],
    [500, "GET /pets", key, ["ServerErrors", "ServerErrors by route GET /pets", "Served"]],
    [503, "POST /pets", {}, ["ServerErrors", "ServerErrors by route POST /pets", "Served"]],
    [401, "GET /pets", { "error.responseType": "UNAUTHORIZED" }, []],
    [401, "GET /pets", { ...key, "error.responseType": "ACCESS_DENIED" }, ["Refusals"]],
    [403, "GET /pets", key, ["Refusals"]],
    [429, "GET /pets", { "error.responseType": "THROTTLED" }, ["Refusals"]],
    [429, "GET /pets", { "error.responseType": "WAF_FILTERED" }, []],
  ])("counts a %d of %s with %j as %j", (status, route, variables, counted) => {
    const [httpMethod, resourcePath] = route.split(" ");
    const line = JSON.parse(formatAccessLog(Format, { status, httpMethod, resourcePath, ...variables }));
    const metrics = countedFrom(filters, line).map(({ MetricName, Dimensions }) =>
      [MetricName, ...Dimensions.map(({ Name, Value }: Json) => `by ${Name} ${Value}`)].join(" "),
    );
    expect(metrics).toEqual(counted);
  });

  it("has metrics that belong to this stage, and the dashboard draws them by their dimensions", () => {
    const { DashboardBody } = only("CloudWatch::Dashboard");
    const metrics = filters.flatMap(({ MetricTransformations }) => MetricTransformations);
    for (const { MetricNamespace, MetricName, Dimensions = [] } of metrics) {
      expect(MetricNamespace).toContain(stack);
      for (const { Key } of Dimensions) {
        const search = `{"${MetricNamespace}",${Key}} MetricName="${MetricName}"`;
        expect(DashboardBody).toContain(JSON.stringify(search).slice(1, -1));
      }
    }
  });
});
