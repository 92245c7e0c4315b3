import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Match, Template } from "aws-cdk-lib/assertions";
import { AVAILABILITY_OBJECTIVE } from "../../../infra/dashboard.ts";
import { stackName, stages } from "../../../infra/stages.ts";
import { errors } from "../../../lib/errors.ts";
import { operations } from "../../../lib/operations.ts";
import { readStack } from "../../../local/assembly/template.ts";
import { readTemplate } from "../../support/normalize.ts";
import { readResources } from "../../support/resources.ts";

// templates.test.ts compares the whole templates with reviewed ones. These tests say why some parts must be as they are.

// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
type Json = any;

const assembly = process.env.TEST_ASSEMBLY ?? "";

/** Every type of gateway response, from API Gateway's documentation. */
const gatewayResponseTypes = [
  "ACCESS_DENIED",
  "API_CONFIGURATION_ERROR",
  "AUTHORIZER_CONFIGURATION_ERROR",
  "AUTHORIZER_FAILURE",
  "BAD_REQUEST_BODY",
  "BAD_REQUEST_PARAMETERS",
  "DEFAULT_4XX",
  "DEFAULT_5XX",
  "EXPIRED_TOKEN",
  "INTEGRATION_FAILURE",
  "INTEGRATION_TIMEOUT",
  "INVALID_API_KEY",
  "INVALID_SIGNATURE",
  "MISSING_AUTHENTICATION_TOKEN",
  "QUOTA_EXCEEDED",
  "REQUEST_TOO_LARGE",
  "RESOURCE_NOT_FOUND",
  "THROTTLED",
  "UNAUTHORIZED",
  "UNSUPPORTED_MEDIA_TYPE",
  "WAF_FILTERED",
];

describe.each(stages)("the $name stack", ({ name }) => {
  const stack = stackName(name);
  const template = Template.fromJSON(readTemplate(assembly, stack));
  const properties = (type: string): Json[] =>
    Object.values(template.findResources(type)).map(({ Properties }) => Properties);
  const { routes } = readStack(assembly, stack);

  it("has a method with a function of its own for every operation", () => {
    const proxies = routes.flatMap(({ method, path, integration }) =>
      integration.type === "AWS_PROXY" ? [{ route: `${method} ${path}`, fn: integration.functionName }] : [],
    );
    expect(proxies.map(({ route }) => route).sort()).toEqual(
      operations.map(({ method, path }) => `${method} ${path}`).sort(),
    );
    expect(new Set(proxies.map(({ fn }) => fn)).size).toBe(operations.length);
  });

  it("requires authorization for everything but unknown paths, which API Gateway must not handle itself", () => {
    const open = routes.filter(({ requiresAuthorization }) => !requiresAuthorization);
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(["ANY ", "ANY /{proxy+}"]);
    for (const { integration } of open) {
      expect(integration).toMatchObject({ type: "MOCK", response: { status: 404 } });
    }
    const [authorizer] = Object.keys(template.findResources("AWS::ApiGateway::Authorizer"));
    const authorized = Match.objectLike({ AuthorizationType: "CUSTOM", AuthorizerId: { Ref: authorizer } });
    template.resourcePropertiesCountIs("AWS::ApiGateway::Method", authorized, routes.length - open.length);
  });

  it("never lets a client's body choose the status of a mock", () => {
    const mocks = properties("AWS::ApiGateway::Method").filter(
      ({ Integration }) => Integration.Type === "MOCK",
    );
    expect(mocks.length).toBeGreaterThan(0);
    for (const { Integration } of mocks) {
      const { PassthroughBehavior, RequestTemplates, IntegrationResponses } = Integration;
      expect(PassthroughBehavior).toBe("NEVER");
      const [{ StatusCode }] = IntegrationResponses;
      expect(new Set(Object.values(RequestTemplates))).toEqual(new Set([`{"statusCode":${StatusCode}}`]));
    }
  });

  it("returns a static Error body for every type of gateway response", () => {
    const responses = properties("AWS::ApiGateway::GatewayResponse");
    expect(responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(gatewayResponseTypes);
    for (const { StatusCode, ResponseTemplates } of responses) {
      expect(Object.keys(ResponseTemplates)).toEqual(["application/json"]);
      expect(ResponseTemplates["application/json"]).not.toContain("$");
      const body = JSON.parse(ResponseTemplates["application/json"]);
      const { status, message } = errors[body.code as keyof typeof errors];
      expect(body).toEqual({ code: body.code, message, status });
      expect(StatusCode).toBe(String(status));
    }
  });

  it("sends Retry-After when the authorizer or a function fails, and a longer one when the firewall blocks", () => {
    const retryAfter = (type: string) => {
      const response = properties("AWS::ApiGateway::GatewayResponse").find(
        ({ ResponseType }) => ResponseType === type,
      );
      return [response?.StatusCode, response?.ResponseParameters["gatewayresponse.header.Retry-After"]];
    };
    expect(retryAfter("AUTHORIZER_FAILURE")).toEqual(["503", "'1'"]);
    expect(retryAfter("AUTHORIZER_CONFIGURATION_ERROR")).toEqual(["503", "'1'"]);
    expect(retryAfter("INTEGRATION_FAILURE")).toEqual(["503", "'1'"]);
    expect(retryAfter("THROTTLED")).toEqual(["429", "'1'"]);
    expect(retryAfter("INTEGRATION_TIMEOUT")).toEqual(["504", undefined]);
    expect(retryAfter("WAF_FILTERED")).toEqual(["429", "'30'"]);
  });

  it("writes nothing into the access log that a client sent", () => {
    const [{ AccessLogSetting, MethodSettings }] = properties("AWS::ApiGateway::Stage");
    expect(AccessLogSetting.Format.match(/\$[\w.]+/g).sort()).toEqual([
      "$context.authorizer.error",
      "$context.authorizer.keyId",
      "$context.authorizer.latency",
      "$context.authorizer.requestId",
      "$context.error.responseType",
      "$context.httpMethod",
      "$context.integration.integrationStatus",
      "$context.integration.requestId",
      "$context.integrationLatency",
      "$context.requestId",
      "$context.requestTime",
      "$context.resourcePath",
      "$context.responseLatency",
      "$context.status",
    ]);
    expect(MethodSettings).toHaveLength(1);
    expect(MethodSettings[0]).toMatchObject({ DataTraceEnabled: false });
    expect(MethodSettings[0]).not.toHaveProperty("LoggingLevel");
  });

  it("shows its availability and the objective on its dashboard", () => {
    const [{ DashboardBody }] = properties("AWS::CloudWatch::Dashboard");
    const text = JSON.stringify(DashboardBody);
    expect(text).toContain(`objective ${AVAILABILITY_OBJECTIVE} over 30 days`);
    expect(text).toContain("100 * (1 - errors / requests)");
    const { widgets } = JSON.parse(
      readResources(assembly, stack).only("CloudWatch::Dashboard").DashboardBody,
    );
    const overTheTimeShown = widgets.filter(({ properties }: Json) => properties.setPeriodToTimeRange);
    expect(overTheTimeShown.map(({ properties }: Json) => properties.title)).toEqual([
      expect.stringContaining("Availability over the time shown"),
    ]);
  });
});

it("satisfies the rules of AWS Solutions, with a reason for every one that does not apply", () => {
  const report = JSON.parse(readFileSync(join(assembly, "validation-report.json"), "utf8"));
  const [{ pluginName, conclusion, violations, suppressedViolations }] = report.pluginReports;
  expect([pluginName, conclusion, violations]).toEqual(["AwsSolutions", "success", []]);
  expect(
    [...new Set(suppressedViolations.map(({ ruleName }: Json) => ruleName.replace(/\[.*/, "")))].sort(),
  ).toEqual(
    ["APIG2", "APIG3", "APIG4", "APIG6", "COG4", "DDB3", "IAM4"].map((rule) => `AwsSolutions-${rule}`),
  );
});
