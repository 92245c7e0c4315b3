import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../../infra/names.ts";
import { matches } from "../../support/filter-pattern.ts";
import { readResources } from "../../support/resources.ts";
import { stageVariants } from "../../support/stages.ts";

describe.each(stageVariants)("the access log of $name, $settings", ({ name, assembly }) => {
  const { find, only } = readResources(assembly, stackName(name));
  const { Format, DestinationArn } = only("ApiGateway::Stage").AccessLogSetting;
  const filters = find("Logs::MetricFilter").filter((one) => DestinationArn.endsWith(`:${one.LogGroupName}`));

  it("has no text of a client but the ids that it quotes, and no error message", () => {
    // Without the ids that clients quote, and the address of the connection.
    const others = Format.replaceAll(/\$context\.(requestId|extendedRequestId|identity\.sourceIp)\b/g, "");
    expect(others).not.toMatch(
      /\$context\.(path|identity|error\.message|(integration|authorizer)\.error|requestOverride|xrayTraceId)/,
    );
  });

  const key = { "authorizer.keyId": "key_1" };
  it.each<[counted: string[], variables: Record<string, string | number>]>([
    [["ServerErrors", "ServedLatency"], { status: 503, ...key }],
    [["ServerErrors", "ServedLatency"], { status: 503, "error.responseType": "AUTHORIZER_FAILURE" }],
    [["ServedLatency"], { status: 404, ...key }],
    // What anybody can send as often as AWS WAF lets it, beside an outage.
    [[], { status: 404 }],
    [[], { status: 401, "error.responseType": "UNAUTHORIZED" }],
    [[], { status: 401, "authorizer.keyId": "unknown", "error.responseType": "ACCESS_DENIED" }],
    [[], { status: 403, ...key }],
    [[], { status: 405, ...key }],
    [[], { status: 429, "error.responseType": "THROTTLED" }],
    [[], { status: 429, "error.responseType": "WAF_FILTERED" }],
  ])("counts as %j a request with %j", (counted, variables) => {
    const all: typeof variables = { responseLatency: 12, ...variables };
    const line = JSON.parse(
      Format.replaceAll(/\$context\.([\w.]+)/g, (_: string, variable: string) => all[variable] ?? "-"),
    );
    const matching = filters.filter(({ FilterPattern }) => matches(FilterPattern, line));
    expect(matching.map(({ MetricTransformations: [{ MetricName }] }) => MetricName)).toEqual(counted);
    expect(line.latencyMs).toBe(12); // a text would be no value of a metric
  });
});
