import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { readStack } from "../../infra/local/template.ts";
import { operations } from "../../lib/operations.ts";

// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
type Json = any;

const assembly = process.env.TEST_ASSEMBLY ?? "";
const templateOf = (stage: string) =>
  JSON.parse(readFileSync(join(assembly, `animal-store-${stage}.template.json`), "utf8"));

/** Every type that API Gateway has, from its documentation. */
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

describe.each(["staging", "production"])("the %s stack", (stage) => {
  const template = templateOf(stage);
  const all = (type: string): [string, Json][] =>
    Object.entries<Json>(template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id, resource]) => [id, resource.Properties]);
  const only = (type: string, prefix: string) => {
    const [found, ...others] = all(type).filter(([id]) => id.startsWith(prefix));
    expect(others).toEqual([]);
    return found ?? ["", {}];
  };

  it("has a method for every operation, each with a function of its own, and one more a path for other methods", () => {
    const routes = readStack(assembly, `animal-store-${stage}`).routes;
    const proxies = routes.flatMap(({ method, path, integration }) =>
      integration.type === "AWS_PROXY" ? [{ method, path, to: integration.functionName }] : [],
    );
    expect(proxies.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      operations.map(({ method, path }) => `${method} ${path}`).sort(),
    );
    expect(new Set(proxies.map(({ to }) => to)).size).toBe(operations.length);
    expect(
      routes
        .filter(({ method }) => method === "ANY")
        .map(({ path }) => path)
        .sort(),
    ).toEqual([...new Set(operations.map(({ path }) => path))].sort());
  });

  it("asks the authorizer before every method", () => {
    const [authorizer] = only("AWS::ApiGateway::Authorizer", "");
    for (const [, method] of all("AWS::ApiGateway::Method")) {
      expect(method).toMatchObject({ AuthorizationType: "CUSTOM", AuthorizerId: { Ref: authorizer } });
    }
  });

  it("answers with a static Error body for every type of gateway response", () => {
    const responses = all("AWS::ApiGateway::GatewayResponse").map(([, response]) => response);
    expect(responses.map((response) => response.ResponseType).sort()).toEqual(gatewayResponseTypes);
    for (const { StatusCode, ResponseTemplates } of responses) {
      expect(Object.keys(ResponseTemplates)).toEqual(["application/json"]);
      expect(ResponseTemplates["application/json"]).not.toContain("$");
      expect(JSON.parse(ResponseTemplates["application/json"])).toEqual({
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(/\.$/),
        status: Number(StatusCode),
      });
    }
    const unauthorized = responses.find((response) => response.ResponseType === "UNAUTHORIZED");
    expect(unauthorized.ResponseParameters).toEqual({
      "gatewayresponse.header.WWW-Authenticate": `'Bearer realm="animal-store"'`,
    });
  });

  it("gives each function exactly the actions and resources that it needs", () => {
    const [pets] = only("AWS::DynamoDB::Table", "Pets");
    const [keys] = only("AWS::DynamoDB::Table", "Keys");
    const arn = (id: string) => ({ "Fn::GetAtt": [id, "Arn"] });
    const expected: Record<string, Json> = {
      ListPets: { Action: "dynamodb:Query", Resource: { "Fn::Join": ["", [arn(pets), "/index/byStatus"]] } },
      CreatePet: { Action: "dynamodb:PutItem", Resource: arn(pets) },
      GetPet: { Action: "dynamodb:GetItem", Resource: arn(pets) },
      Authorize: { Action: "dynamodb:GetItem", Resource: arn(keys) },
    };
    // Besides, there is the role by which API Gateway writes every API's logs.
    expect(all("AWS::IAM::Role")).toHaveLength(5);
    expect(all("AWS::IAM::Policy")).toHaveLength(4);
    for (const [name, data] of Object.entries(expected)) {
      const [logs] = only("AWS::Logs::LogGroup", name);
      const [role, { ManagedPolicyArns, Policies }] = only("AWS::IAM::Role", name);
      expect([ManagedPolicyArns, Policies]).toEqual([undefined, undefined]);
      const [, policy] = only("AWS::IAM::Policy", name);
      expect(policy.Roles).toEqual([{ Ref: role }]);
      expect(policy.PolicyDocument.Statement).toEqual([
        { Effect: "Allow", Action: ["logs:CreateLogStream", "logs:PutLogEvents"], Resource: arn(logs) },
        { Effect: "Allow", ...data },
      ]);
      const [, { Role, LoggingConfig }] = only("AWS::Lambda::Function", name);
      expect([Role, LoggingConfig.LogGroup]).toEqual([arn(role), { Ref: logs }]);
    }
    expect(JSON.stringify(all("AWS::IAM::Policy"))).not.toContain("*");
  });

  it("runs the functions on Node 24 and arm64, each with only its own environment", () => {
    const [pets] = only("AWS::DynamoDB::Table", "Pets");
    const [keys] = only("AWS::DynamoDB::Table", "Keys");
    for (const [id, definition] of all("AWS::Lambda::Function")) {
      expect(definition).toMatchObject({ Runtime: "nodejs24.x", Architectures: ["arm64"], Timeout: 6 });
      expect(definition.Environment.Variables).toEqual(
        id.startsWith("Authorize")
          ? { KEYS_TABLE: { Ref: keys }, STAGE: stage }
          : { PETS_TABLE: { Ref: pets } },
      );
    }
  });

  it("keeps the animals by id and by status, and the keys by hash", () => {
    const id = { AttributeName: "id" };
    const [, pets] = only("AWS::DynamoDB::Table", "Pets");
    expect(pets).toMatchObject({
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [{ ...id, KeyType: "HASH" }],
      GlobalSecondaryIndexes: [
        {
          IndexName: "byStatus",
          KeySchema: [
            { AttributeName: "status", KeyType: "HASH" },
            { ...id, KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
    });
    const [, keys] = only("AWS::DynamoDB::Table", "Keys");
    expect(keys.KeySchema).toEqual([{ AttributeName: "hash", KeyType: "HASH" }]);
  });

  it("logs who did what for every request, and nothing that a client sent", () => {
    const [, { AccessLogSetting }] = only("AWS::ApiGateway::Stage", "");
    const fields = JSON.parse(AccessLogSetting.Format);
    expect(Object.values(fields).flatMap((value) => String(value).match(/\$context\.[\w.]+/g))).toEqual([
      "$context.requestId",
      "$context.requestTime",
      "$context.authorizer.keyId",
      "$context.httpMethod",
      "$context.resourcePath",
      "$context.status",
      "$context.responseLatency",
      "$context.integrationLatency",
      "$context.authorizer.latency",
      "$context.error.responseType",
    ]);
  });

  it("tells its base URL and the names of its tables and functions", () => {
    expect(Object.keys(template.Outputs).sort()).toEqual([
      "BaseUrl",
      "KeysTableName",
      "PetsTableName",
      "authorizeFunctionName",
      "createPetFunctionName",
      "getPetFunctionName",
      "listPetsFunctionName",
    ]);
  });
});

it("keeps production's data when its stack goes, and staging's not", () => {
  const policies = (stage: string) =>
    Object.values<Json>(templateOf(stage).Resources)
      .filter((resource) => resource.Type === "AWS::DynamoDB::Table")
      .map((resource) => resource.DeletionPolicy);
  expect(policies("production")).toEqual(["Retain", "Retain"]);
  expect(policies("staging")).toEqual(["Delete", "Delete"]);
});
