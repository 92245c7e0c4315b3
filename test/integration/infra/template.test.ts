import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Match, Template } from "aws-cdk-lib/assertions";
import { FileSystem } from "aws-cdk-lib/core";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { readStack } from "../../../infra/assembly/template.ts";
import { accountStackName, deployedStages, stackName } from "../../../infra/stages.ts";
import { type ErrorCode, errorBody, errorHeaders, errors } from "../../../lib/errors.ts";
import { operations } from "../../../lib/operations.ts";
import { readTemplate } from "../../support/normalize.ts";

// templates.test.ts compares the whole templates with reviewed ones. These tests say why some parts must be as they are.

const assembly = process.env.TEST_ASSEMBLY ?? "";

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

it.each([
  ...deployedStages.map(({ name }) => [stackName(name), assembly]),
  ["every-option", process.env.TEST_OPTIONS_ASSEMBLY ?? ""],
])("%s calls the function of each operation with its method, and the authorizer", (stack, folder) => {
  const { authorizer, functions, routes } = readStack(folder, stack);
  const idOf = (name: string) => functions.find((fn) => fn.name === name)?.id;
  const called = routes.flatMap(({ method, path, integration }) =>
    integration.type === "AWS_PROXY" ? [[`${method} ${path}`, idOf(integration.functionName)]] : [],
  );
  expect(called.sort()).toEqual(operations.map(({ id, method, path }) => [`${method} ${path}`, id]).sort());
  expect(idOf(authorizer.functionName)).toBe("authorize");
});

describe.each(deployedStages)("the $name stack", ({ name }) => {
  const stack = stackName(name);
  const template = Template.fromJSON(readTemplate(assembly, stack));
  const properties = (type: string): Json[] =>
    Object.values(template.findResources(type)).map(({ Properties }) => Properties);
  const { routes } = readStack(assembly, stack);

  it("deploys a function if and only if its own code has changed, which includes what it imports", () => {
    for (const { code } of readStack(assembly, stack).functions)
      expect(basename(code)).toBe(`asset.${FileSystem.fingerprint(code)}`);
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

  it("returns a static Error body and the headers of its code for every type of gateway response", () => {
    const types: Record<string, string[]> = {};
    for (const { ResponseType, StatusCode, ResponseTemplates, ResponseParameters = {} } of properties(
      "AWS::ApiGateway::GatewayResponse",
    )) {
      expect(Object.keys(ResponseTemplates)).toEqual(["application/json"]);
      expect(ResponseTemplates["application/json"]).not.toContain("$");
      const body = JSON.parse(ResponseTemplates["application/json"]);
      const code: ErrorCode = body.code;
      expect([body, StatusCode]).toEqual([errorBody(code), String(errors[code].status)]);
      const headers = Object.entries(errorHeaders(code)).map(([name, value]) => [
        `gatewayresponse.header.${name}`,
        // The firewall blocks for longer.
        ResponseType === "WAF_FILTERED" ? expect.stringMatching(/^'\d\d+'$/) : `'${value}'`,
      ]);
      expect(ResponseParameters).toEqual(Object.fromEntries(headers));
      types[code] = [...(types[code] ?? []), ResponseType].sort();
    }
    expect(types).toEqual(
      Object.fromEntries(Object.entries(gatewayResponses).map(([code, names]) => [code, names.split(" ")])),
    );
  });

  it("writes into the access log no text that a client sent, and no message of an error, which can repeat it", () => {
    const [{ AccessLogSetting }] = properties("AWS::ApiGateway::Stage");
    const { requestId, ...fields } = JSON.parse(AccessLogSetting.Format);
    expect(requestId).toBe("$context.requestId"); // the x-amzn-RequestId that clients quote
    for (const value of Object.values<string>(fields))
      expect(value).not.toMatch(
        /\$context\.(path|identity|error\.message|integration\.error|requestOverride)/,
      );
  });
});

it("satisfies the rules of AWS Solutions, with a reason for every finding that does not apply, and no other", () => {
  const read = (file: string): Json => JSON.parse(readFileSync(join(assembly, file), "utf8"));
  const [{ pluginName, conclusion, violations, suppressedViolations }] =
    read("validation-report.json").pluginReports;
  expect([pluginName, conclusion, violations]).toEqual(["AwsSolutions", "success", []]);
  const findings: string[] = suppressedViolations.flatMap(({ ruleName, violatingConstructs }: Json) =>
    violatingConstructs.map(({ constructPath }: Json) => `/${constructPath} ${ruleName}`),
  );
  const reasons = [...deployedStages.map(({ name }) => stackName(name)), accountStackName].flatMap((stack) =>
    Object.entries<Json[]>(read(`${stack}.metadata.json`)).flatMap(([path, entries]) =>
      entries
        .filter(({ type }) => type === "aws:cdk:acknowledged-rules")
        .flatMap(({ data }) =>
          Object.keys(data).map((rule) => [path, rule.replace("AwsSolutions::", "")] as const),
        ),
    ),
  );
  const counts = reasons.map(([path, rule]) => {
    const covered = findings.filter((one) => one.startsWith(`${path}/`) && one.endsWith(` ${rule}`));
    return [`${path} ${rule}`, covered.length];
  });
  // All methods have the same authorizer. Every other reason is for one finding.
  expect(counts.filter(([, count]) => count !== 1)).toEqual(
    deployedStages.map(({ name }) => [
      `/${stackName(name)}/Api/RestApi AwsSolutions-COG4`,
      expect.any(Number),
    ]),
  );
});
