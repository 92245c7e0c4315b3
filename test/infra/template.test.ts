import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { readStack } from "../../infra/assembly/template.ts";
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
    ).toEqual(["", "/{proxy+}", ...new Set(operations.map(({ path }) => path))].sort());
  });

  it("invokes the authorizer before every method of a path that an operation has", () => {
    const [authorizer] = only("AWS::ApiGateway::Authorizer", "");
    const methods = all("AWS::ApiGateway::Method").map(([, method]) => method);
    const routes = readStack(assembly, `animal-store-${stage}`).routes;
    const open = routes.filter((route) => !route.requiresAuthorization).map(({ path }) => path);
    expect(open.sort()).toEqual(["", "/{proxy+}"]);
    for (const method of methods.filter(({ AuthorizationType }) => AuthorizationType !== "NONE")) {
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
    const [claims] = only("AWS::DynamoDB::Table", "Claims");
    const arn = (id: string) => ({ "Fn::GetAtt": [id, "Arn"] });
    const expected: Record<string, Json> = {
      ListPets: { Action: "dynamodb:Query", Resource: { "Fn::Join": ["", [arn(pets), "/index/byStatus"]] } },
      CreatePet: [
        { Action: "dynamodb:PutItem", Resource: [arn(claims), arn(pets)] },
        { Action: ["dynamodb:GetItem", "dynamodb:UpdateItem"], Resource: arn(claims) },
      ],
      GetPet: { Action: "dynamodb:GetItem", Resource: arn(pets) },
      Authorize: { Action: "dynamodb:GetItem", Resource: arn(keys) },
    };
    expect(all("AWS::IAM::Policy")).toHaveLength(4);
    for (const [name, data] of Object.entries(expected)) {
      const [logs] = only("AWS::Logs::LogGroup", name);
      const [role, { ManagedPolicyArns, Policies }] = only("AWS::IAM::Role", `${name}Role`);
      expect([ManagedPolicyArns, Policies]).toEqual([undefined, undefined]);
      const [, policy] = only("AWS::IAM::Policy", name);
      expect(policy.Roles).toEqual([{ Ref: role }]);
      expect(policy.PolicyDocument.Statement).toEqual([
        { Effect: "Allow", Action: ["logs:CreateLogStream", "logs:PutLogEvents"], Resource: arn(logs) },
        // X-Ray knows no resources; this is the only `*`.
        { Effect: "Allow", Action: ["xray:PutTelemetryRecords", "xray:PutTraceSegments"], Resource: "*" },
        ...[data].flat().map((statement: Json) => ({ Effect: "Allow", ...statement })),
      ]);
      const [, { Role, LoggingConfig }] = only("AWS::Lambda::Function", name);
      expect(Role).toEqual(arn(role));
      expect(LoggingConfig).toEqual({
        LogGroup: { Ref: logs },
        LogFormat: "JSON",
        ApplicationLogLevel: "INFO",
        SystemLogLevel: "WARN",
      });
    }
  });

  it("runs the functions on Node 24 and arm64, each with only its own environment", () => {
    const [pets] = only("AWS::DynamoDB::Table", "Pets");
    const [keys] = only("AWS::DynamoDB::Table", "Keys");
    for (const [id, definition] of all("AWS::Lambda::Function")) {
      expect(definition).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Timeout: 6,
        TracingConfig: { Mode: "Active" },
      });
      expect(definition).not.toHaveProperty("ReservedConcurrentExecutions");
      const { PETS_TABLE, KEYS_TABLE, CLAIMS_TABLE } = definition.Environment.Variables;
      expect([PETS_TABLE, KEYS_TABLE]).toEqual(
        id.startsWith("Authorize") ? [undefined, { Ref: keys }] : [{ Ref: pets }, undefined],
      );
      expect(CLAIMS_TABLE !== undefined).toBe(id.startsWith("CreatePet"));
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
            { AttributeName: "statusShard", KeyType: "HASH" },
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
      "AlarmTopicArn",
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

describe("the stages differ in what they are for:", () => {
  const [staging, production] = ["staging", "production"].map((stage) =>
    Object.values<Json>(templateOf(stage).Resources),
  );
  const of = (resources: Json[] | undefined, type: string) =>
    (resources ?? []).filter(({ Type }) => Type === type);

  it("production's tables are hard to lose, staging's go with their stack", () => {
    const kept = (table: Json) => !JSON.stringify(table.Properties).includes('"expiresAt"');
    expect(of(production, "AWS::DynamoDB::Table").filter(kept)).toHaveLength(2);
    for (const table of of(production, "AWS::DynamoDB::Table").filter(kept)) {
      expect(table).toMatchObject({
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
        Properties: {
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      });
    }
    for (const table of of(staging, "AWS::DynamoDB::Table")) {
      expect(table).toMatchObject({ DeletionPolicy: "Delete" });
      expect(table.Properties.DeletionProtectionEnabled).not.toBe(true);
    }
    const manifest = JSON.parse(readFileSync(join(assembly, "manifest.json"), "utf8"));
    expect(manifest.artifacts["animal-store-production"].properties.terminationProtection).toBe(true);
    expect(manifest.artifacts["animal-store-staging"].properties.terminationProtection).not.toBe(true);
  });

  it("production's functions change gradually, behind an alias, and go back on alarms", () => {
    const groups = of(production, "AWS::CodeDeploy::DeploymentGroup").map(({ Properties }) => Properties);
    expect(groups).toHaveLength(4);
    for (const group of groups) {
      expect(group.DeploymentConfigName).toBe("CodeDeployDefault.LambdaCanary10Percent5Minutes");
      expect(group.AlarmConfiguration.Alarms).toHaveLength(3);
      expect(group.AutoRollbackConfiguration.Events).toContain("DEPLOYMENT_STOP_ON_ALARM");
    }
    expect(of(production, "AWS::Lambda::Alias")).toHaveLength(4);
    const uris = of(production, "AWS::ApiGateway::Method").flatMap(
      ({ Properties }) => Properties.Integration.Uri ?? [],
    );
    const [{ Properties: authorizer } = {}] = of(production, "AWS::ApiGateway::Authorizer");
    for (const uri of [...uris, authorizer.AuthorizerUri]) expect(JSON.stringify(uri)).toMatch(/Live/);
    expect(of(staging, "AWS::CodeDeploy::DeploymentGroup")).toEqual([]);
  });

  it("production has a firewall against one address that asks for too much", () => {
    const [firewall] = of(production, "AWS::WAFv2::WebACL");
    expect(firewall.Properties.Rules[0].Statement.RateBasedStatement).toMatchObject({
      AggregateKeyType: "IP",
    });
    expect(of(production, "AWS::WAFv2::WebACLAssociation")).toHaveLength(1);
    expect(of(staging, "AWS::WAFv2::WebACL")).toEqual([]);
  });

  it("both are throttled, traced and logged without bodies, and outlive each other's role for logs", () => {
    for (const resources of [staging, production]) {
      const [{ Properties: stage } = {}] = of(resources, "AWS::ApiGateway::Stage");
      expect(stage).toMatchObject({ TracingEnabled: true, AccessLogSetting: { Format: expect.any(String) } });
      expect(stage.MethodSettings).toEqual([
        {
          HttpMethod: "*",
          ResourcePath: "/*",
          DataTraceEnabled: false,
          ThrottlingRateLimit: expect.any(Number),
          ThrottlingBurstLimit: expect.any(Number),
        },
      ]);
      for (const log of of(resources, "AWS::Logs::LogGroup")) expect(log.Properties.RetentionInDays).toBe(30);
      const [account] = of(resources, "AWS::ApiGateway::Account");
      expect(account.DeletionPolicy).toBe("Retain");
    }
  });

  it("both tell operators of trouble, over an encrypted topic that takes TLS alone", () => {
    for (const resources of [staging, production]) {
      const [topic] = of(resources, "AWS::SNS::Topic");
      expect(topic.Properties.KmsMasterKeyId).toBeDefined();
      expect(JSON.stringify(of(resources, "AWS::SNS::TopicPolicy"))).toContain(
        '"aws:SecureTransport":"false"',
      );
      const alarms = of(resources, "AWS::CloudWatch::Alarm").map(({ Properties }) => Properties);
      const names = alarms.map(({ MetricName, Namespace }) => `${Namespace} ${MetricName}`);
      expect([...new Set(names)].sort()).toEqual([
        "AWS/ApiGateway 5XXError",
        "AWS/DynamoDB ThrottledRequests",
        ...(resources === production ? ["AWS/Lambda Duration"] : []),
        "AWS/Lambda Errors",
        "AWS/Lambda Invocations",
        "AWS/Lambda Throttles",
      ]);
      for (const alarm of alarms) expect(alarm.AlarmActions).toHaveLength(1);
    }
  });

  it("both count who calls the deprecated operation, by key", () => {
    for (const resources of [staging, production]) {
      const [filter] = of(resources, "AWS::Logs::MetricFilter");
      expect(filter.Properties.FilterPattern).toBe('{ $.message.operation = "getPet" }');
      expect(filter.Properties.MetricTransformations[0].Dimensions).toEqual([
        { Key: "keyId", Value: "$.message.keyId" },
      ]);
    }
  });
});

it("satisfies the rules of AWS Solutions, with a reason for every one that does not apply", () => {
  const report = JSON.parse(readFileSync(join(assembly, "validation-report.json"), "utf8"));
  const [{ pluginName, conclusion, violations, suppressedViolations }] = report.pluginReports;
  expect([pluginName, conclusion, violations]).toEqual(["AwsSolutions", "success", []]);
  expect(new Set(suppressedViolations.map(({ ruleName }: Json) => ruleName.replace(/\[.*/, "")))).toEqual(
    new Set(
      ["DDB3", "APIG2", "APIG3", "APIG4", "APIG6", "COG4", "IAM4", "IAM5"].map(
        (rule) => `AwsSolutions-${rule}`,
      ),
    ),
  );
});
