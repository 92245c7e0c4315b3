import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { formatAccessLog } from "../../../emulator/gateway/context.ts";
import { evaluate } from "../../../emulator/template/intrinsics.ts";
import { readStack } from "../../../emulator/template/template.ts";
import { accountStackName, stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { type ErrorCode, errorBody, errorHeaders, errors } from "../../../lib/errors.ts";
import { countedFrom } from "../../support/cloudwatch.ts";
import { everyOption } from "../../support/every-option.ts";
import type { Json } from "../../support/json.ts";
import { readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

// templates.test.ts compares the whole templates with reviewed ones. These tests say why some parts must be as they are.

// An import would load all of it.
const { FileSystem } = createRequire(import.meta.url)("aws-cdk-lib/core");
const assembly = shared.assembly;

/** Every type of gateway response, from API Gateway's documentation, by the error that a client gets. */
const gatewayResponses = {
  unauthorized: "ACCESS_DENIED EXPIRED_TOKEN INVALID_API_KEY UNAUTHORIZED", // the authorizer denies invalid keys
  internal_error: "API_CONFIGURATION_ERROR DEFAULT_5XX",
  unavailable: "AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE INTEGRATION_FAILURE",
  timeout: "INTEGRATION_TIMEOUT",
  invalid_request: "BAD_REQUEST_BODY BAD_REQUEST_PARAMETERS DEFAULT_4XX",
  not_found: "INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN RESOURCE_NOT_FOUND", // no operation uses IAM
  too_many_requests: "QUOTA_EXCEEDED THROTTLED WAF_FILTERED",
  payload_too_large: "REQUEST_TOO_LARGE",
  unsupported_media_type: "UNSUPPORTED_MEDIA_TYPE",
};

const stacks = [
  ...deployedStages.map(({ name }) => [stackName(name), assembly] as const),
  [stackName(everyOption.name), shared.optionsAssembly] as const,
];

it.each(stacks)(
  "%s declares the headers that a method returns, which API Gateway otherwise refuses",
  (stack, folder) => {
    const methods = readResources(folder, stack).find("ApiGateway::Method");
    const returned = methods.flatMap(({ Integration, MethodResponses = [] }) =>
      (Integration.IntegrationResponses ?? []).map(({ StatusCode, ResponseParameters = {} }: Json) => {
        const declared = MethodResponses.find((one: Json) => one.StatusCode === StatusCode);
        return [Object.keys(ResponseParameters), Object.keys(declared?.ResponseParameters ?? {})];
      }),
    );
    expect(returned.flat(2)).not.toEqual([]);
    for (const [headers, declared] of returned) expect(declared).toEqual(expect.arrayContaining(headers));
  },
);

describe.each(deployedStages)("the $name stack", ({ name }) => {
  const stack = stackName(name);
  const { find, only } = readResources(assembly, stack);
  const { routes, functions } = readStack(assembly, stack);

  it("deploys a function if and only if its own code has changed, which includes what it imports", () => {
    for (const { code } of functions) expect(basename(code)).toBe(`asset.${FileSystem.fingerprint(code)}`);
  });

  it("requires authorization for everything but unknown paths, which API Gateway must not handle itself", () => {
    const open = routes.filter(({ requiresAuthorization }) => !requiresAuthorization);
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(["ANY ", "ANY /{proxy+}"]);
    for (const { integration } of open)
      expect(integration).toMatchObject({ type: "MOCK", response: { status: 404 } });
    const authorizers = find("ApiGateway::Method").map((method) =>
      method.AuthorizationType === "CUSTOM" ? method.AuthorizerId : method.AuthorizationType,
    );
    expect(new Set(authorizers)).toEqual(new Set(["NONE", only("ApiGateway::Authorizer").id]));
  });

  it("never lets a client's body choose the status of a mock", () => {
    const mocks = find("ApiGateway::Method").filter(({ Integration }) => Integration.Type === "MOCK");
    expect(mocks).not.toEqual([]);
    for (const { Integration } of mocks) {
      expect(Integration.PassthroughBehavior).toBe("NEVER");
      const [{ StatusCode }] = Integration.IntegrationResponses;
      for (const template of Object.values(Integration.RequestTemplates))
        expect(template).toBe(`{"statusCode":${StatusCode}}`);
    }
  });

  it("returns a static Error body and the headers of its code for every type of gateway response", () => {
    const types: Record<string, string> = {};
    for (const response of find("ApiGateway::GatewayResponse")) {
      const { ResponseType, StatusCode, ResponseTemplates, ResponseParameters = {} } = response;
      const { "application/json": template, ...others } = ResponseTemplates;
      expect(template).not.toContain("$");
      const code: ErrorCode = JSON.parse(template).code;
      expect([StatusCode, JSON.parse(template), others]).toEqual([
        String(errors[code].status),
        errorBody(code),
        {},
      ]);
      const headers = Object.entries(errorHeaders(code)).map(([name, value]) => [
        `gatewayresponse.header.${name}`,
        // AWS WAF blocks for longer.
        ResponseType === "WAF_FILTERED" ? expect.stringMatching(/^'\d\d+'$/) : `'${value}'`,
      ]);
      expect(ResponseParameters).toEqual(Object.fromEntries(headers));
      types[ResponseType] = code;
    }
    const expected = Object.entries(gatewayResponses).flatMap(([code, names]) =>
      names.split(" ").map((type) => [type, code]),
    );
    expect(types).toEqual(Object.fromEntries(expected));
  });

  it("has a dashboard whose name is unique in the account, over all regions", () => {
    expect(only("CloudWatch::Dashboard").DashboardName).toBe(`${stack}-${evaluate({ Ref: "AWS::Region" })}`);
  });

  describe("the access log", () => {
    const { Format, DestinationArn } = only("ApiGateway::Stage").AccessLogSetting;
    const filters = find("Logs::MetricFilter").filter((one) =>
      DestinationArn.endsWith(`:${one.LogGroupName}`),
    );
    const key = { "authorizer.keyId": "key_1" };

    it("has no text that a client sent, and no message of an error, which can repeat it", () => {
      const { requestId, ...fields } = JSON.parse(Format);
      expect(requestId).toBe("$context.requestId"); // the x-amzn-RequestId that clients quote
      expect(Object.values(fields).join()).not.toMatch(
        /\$context\.(path|identity|error\.message|integration\.error|requestOverride|xrayTraceId)/,
      );
    });

    it.each<[status: number, route: string, variables: object, counted: string[]]>([
      [404, "GET /pets", key, ["RequestsWithKey"]],
      [500, "GET /pets", key, ["ServerErrors", "ServerErrors by route GET /pets", "RequestsWithKey"]],
      [503, "POST /pets", {}, ["ServerErrors", "ServerErrors by route POST /pets"]],
      [401, "GET /pets", { "error.responseType": "UNAUTHORIZED" }, []],
      [401, "GET /pets", { ...key, "error.responseType": "ACCESS_DENIED" }, ["RequestsWithKey", "Refusals"]],
      [403, "GET /pets", key, ["RequestsWithKey", "Refusals"]],
      [429, "GET /pets", { "error.responseType": "THROTTLED" }, ["RequestsWithKey", "Refusals"]],
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
});

it("satisfies the rules of AWS Solutions, with a reason for every finding that does not apply, and no other", () => {
  const read = (file: string): Json => JSON.parse(readFileSync(join(assembly, file), "utf8"));
  const [{ pluginName, conclusion, violations, suppressedViolations }] =
    read("validation-report.json").pluginReports;
  expect([pluginName, conclusion, violations]).toEqual(["AwsSolutions", "success", []]);
  const findings: string[] = suppressedViolations.flatMap(({ ruleName, violatingConstructs }: Json) =>
    violatingConstructs.map(({ constructPath }: Json) => `AwsSolutions::${ruleName} /${constructPath}`),
  );
  const stacks = [...deployedStages.map(({ name }) => stackName(name)), accountStackName];
  const reasons = stacks.flatMap((stack) =>
    Object.entries<Json[]>(read(`${stack}.metadata.json`)).flatMap(([path, entries]) =>
      entries
        .filter(({ type }) => type === "aws:cdk:acknowledged-rules")
        .flatMap(({ data }) => Object.keys(data).map((rule) => `${rule} ${path}`)),
    ),
  );
  // All methods have the same authorizer. Every other reason is for one finding.
  const ofAll = deployedStages.map(
    ({ name }) => `AwsSolutions::AwsSolutions-COG4 /${stackName(name)}/Api/RestApi`,
  );
  const others = reasons.filter(
    (reason) => findings.filter((one) => one.startsWith(`${reason}/`)).length !== 1,
  );
  expect(others).toEqual(ofAll);
});
