import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Match, Template } from "aws-cdk-lib/assertions";
import { FileSystem } from "aws-cdk-lib/core";
import { readStack } from "../../../infra/assembly/template.ts";
import { accountStackName, deployedStages, stackName } from "../../../infra/stages.ts";
import { errors } from "../../../lib/errors.ts";
import { operations } from "../../../lib/operations.ts";
import { readTemplate } from "../../support/normalize.ts";

// templates.test.ts compares the whole templates with reviewed ones. These tests say why some parts must be as they are.

// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
type Json = any;

const assembly = process.env.TEST_ASSEMBLY ?? "";

/** Every type of gateway response, from API Gateway's documentation, with the error that a client gets. */
const gatewayResponses = {
  ACCESS_DENIED: "unauthorized", // the authorizer denies invalid keys
  API_CONFIGURATION_ERROR: "internal_error",
  AUTHORIZER_CONFIGURATION_ERROR: "unavailable",
  AUTHORIZER_FAILURE: "unavailable",
  BAD_REQUEST_BODY: "invalid_request",
  BAD_REQUEST_PARAMETERS: "invalid_request",
  DEFAULT_4XX: "invalid_request",
  DEFAULT_5XX: "internal_error",
  EXPIRED_TOKEN: "unauthorized",
  INTEGRATION_FAILURE: "unavailable",
  INTEGRATION_TIMEOUT: "timeout",
  INVALID_API_KEY: "unauthorized",
  INVALID_SIGNATURE: "not_found", // no operation uses IAM
  MISSING_AUTHENTICATION_TOKEN: "not_found",
  QUOTA_EXCEEDED: "too_many_requests",
  REQUEST_TOO_LARGE: "payload_too_large",
  RESOURCE_NOT_FOUND: "not_found",
  THROTTLED: "too_many_requests",
  UNAUTHORIZED: "unauthorized",
  UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
  WAF_FILTERED: "too_many_requests",
};

describe.each(deployedStages)("the $name stack", ({ name }) => {
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

  it("returns a static Error body for every type of gateway response", () => {
    const responses = properties("AWS::ApiGateway::GatewayResponse");
    const codes = responses.map(({ ResponseType, ResponseTemplates }) => [
      ResponseType,
      JSON.parse(ResponseTemplates["application/json"]).code,
    ]);
    expect(Object.fromEntries(codes)).toEqual(gatewayResponses);
    for (const { StatusCode, ResponseTemplates } of responses) {
      expect(Object.keys(ResponseTemplates)).toEqual(["application/json"]);
      expect(ResponseTemplates["application/json"]).not.toContain("$");
      const body = JSON.parse(ResponseTemplates["application/json"]);
      const { status, message } = errors[body.code as keyof typeof errors];
      expect(body).toEqual({ code: body.code, message, status });
      expect(StatusCode).toBe(String(status));
    }
  });

  it("sends Retry-After with a 429 or a 503, a longer one when the firewall blocks, and a challenge with a 401", () => {
    for (const { ResponseType, StatusCode, ResponseParameters = {} } of properties(
      "AWS::ApiGateway::GatewayResponse",
    )) {
      const expected: Record<string, object> = {
        401: { "gatewayresponse.header.WWW-Authenticate": `'Bearer realm="animal-store"'` },
        429: { "gatewayresponse.header.Retry-After": ResponseType === "WAF_FILTERED" ? "'30'" : "'1'" },
        503: { "gatewayresponse.header.Retry-After": "'1'" },
      };
      expect([ResponseType, ResponseParameters]).toEqual([ResponseType, expected[StatusCode] ?? {}]);
    }
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
