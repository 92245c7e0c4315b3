import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, jest } from "@jest/globals";
import type { GatewayOptions } from "../../../emulator/gateway/gateway.ts";
import { HttpServer } from "../../../emulator/gateway/server.ts";
import { startStack } from "../../../emulator/running-stack.ts";
import { awsEnvironment } from "../../../emulator/store/aws-environment.ts";
import { createTables } from "../../../emulator/store/create-tables.ts";
import { startStore } from "../../../emulator/store/store.ts";
import { readStack } from "../../../emulator/template/template.ts";
import { listen } from "../../support/listen.ts";

// A template that has nothing to do with this service, written by hand: notes in a table, read and written by one function.

const uri = (name: string) => ({
  "Fn::Sub": `arn:aws:apigateway:\${AWS::Region}:lambda:path/2015-03-31/functions/\${${name}.Arn}/invocations`,
});
const json = (value: object) => ({ "application/json": JSON.stringify(value) });
const fn = (name: string, properties = {}) => ({
  Type: "AWS::Lambda::Function",
  Properties: {
    Code: { S3Bucket: "assets", S3Key: "notes.zip" },
    Handler: `index.${name}`,
    Runtime: "nodejs24.x",
    Timeout: 28, // on a busy machine, a first call takes seconds
    ...properties,
  },
});
const method = (
  HttpMethod: string,
  ResourceId: object,
  Integration: object,
  AuthorizationType = "CUSTOM",
) => ({
  Type: "AWS::ApiGateway::Method",
  Properties: { HttpMethod, ResourceId, Integration, AuthorizationType },
});
const proxy = { Type: "AWS_PROXY", IntegrationHttpMethod: "POST", Uri: uri("Notes") };

const Resources = {
  Table: {
    Type: "AWS::DynamoDB::Table",
    Properties: {
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [{ AttributeName: "title", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "title", AttributeType: "S" }],
    },
  },
  Notes: fn("notes", { MemorySize: 256, Environment: { Variables: { TABLE: { Ref: "Table" } } } }),
  Check: fn("check"),
  // Nothing on this machine calls it, so its inline code does not matter.
  Cleaner: { Type: "AWS::Lambda::Function", Properties: { Code: { ZipFile: "" }, Runtime: "python3.14" } },
  Nightly: { Type: "AWS::Events::Rule", Properties: { ScheduleExpression: "rate(1 day)" } },
  Api: { Type: "AWS::ApiGateway::RestApi", Properties: { Name: "notes" } },
  Live: { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "live", RestApiId: { Ref: "Api" } } },
  Note: {
    Type: "AWS::ApiGateway::Resource",
    Properties: { ParentId: { "Fn::GetAtt": ["Api", "RootResourceId"] }, PathPart: "{title}" },
  },
  Get: method("GET", { Ref: "Note" }, proxy),
  Put: method("PUT", { Ref: "Note" }, proxy),
  Preflight: method(
    "OPTIONS",
    { Ref: "Note" },
    {
      Type: "MOCK",
      PassthroughBehavior: "NEVER",
      RequestTemplates: json({ statusCode: 204 }),
      IntegrationResponses: [
        {
          StatusCode: "204",
          ResponseParameters: { "method.response.header.Access-Control-Allow-Origin": "'*'" },
        },
      ],
    },
    "NONE",
  ),
  Authorizer: {
    Type: "AWS::ApiGateway::Authorizer",
    Properties: {
      Type: "TOKEN",
      IdentitySource: "method.request.header.Authorization",
      AuthorizerUri: uri("Check"),
    },
  },
  ...Object.fromEntries(
    ["DEFAULT_4XX", "DEFAULT_5XX"].map((ResponseType) => [
      ResponseType,
      {
        Type: "AWS::ApiGateway::GatewayResponse",
        Properties: { ResponseType, ResponseTemplates: json({ error: ResponseType }) },
      },
    ]),
  ),
};

/** The code of both functions. It calls DynamoDB without the SDK. */
const code = `
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_ACCESS_KEY_ID: id, TABLE: TableName } = process.env;
  const call = async (operation, input) => {
    const headers = {
      Authorization: "AWS4-HMAC-SHA256 Credential=" + id + "/20261122/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
      "X-Amz-Date": "20261122T000000Z",
      "X-Amz-Target": "DynamoDB_20120810." + operation,
      "Content-Type": "application/x-amz-json-1.0",
    };
    const response = await fetch(endpoint, { method: "POST", headers, body: JSON.stringify({ TableName, ...input }) });
    return response.json();
  };
  exports.notes = async ({ httpMethod, pathParameters: { title }, body, requestContext }) => {
    console.info("begun");
    if (httpMethod === "PUT") await call("PutItem", { Item: { title: { S: title }, text: { S: body } } });
    const { Item } = await call("GetItem", { Key: { title: { S: title } } });
    return { statusCode: 200, body: Item.text.S + " of " + requestContext.authorizer.reader };
  };
  exports.check = async ({ authorizationToken: reader, methodArn }) => ({
    principalId: reader,
    policyDocument: { Statement: [{ Effect: reader === "eve" ? "Deny" : "Allow", Resource: methodArn.replace(/PUT|GET/, "*") }] },
    context: { reader },
  });`;

async function read(template: object) {
  await using folder = await mkdtempDisposable(join(tmpdir(), "emulator-template-"));
  await writeFile(join(folder.path, "notes.template.json"), JSON.stringify(template));
  return readStack(folder.path, "notes");
}

const ignore = () => undefined;
const options = { environment: {}, throttled: true, onRequest: ignore, onLog: ignore, onFailure: ignore };

it("serves a template that has nothing to do with this service", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "emulator-"));
  const asset = join(folder.path, "asset.notes");
  await mkdir(asset);
  await writeFile(join(asset, "index.js"), code);
  await writeFile(join(folder.path, "notes.template.json"), JSON.stringify({ Resources }));
  const stack = readStack(folder.path, "notes");
  expect(stack.functions).toMatchObject([
    { name: "Notes", timeoutMs: 28_000, memoryMb: 256 },
    { name: "Check", timeoutMs: 28_000, memoryMb: 128 },
  ]);
  const store = await startStore();
  const environment = awsEnvironment(store);
  Object.assign(process.env, environment);
  await createTables(store.endpoint, stack.tables);
  const onRequest = jest.fn<GatewayOptions["onRequest"]>();
  const running = startStack(stack, {
    ...options,
    environment,
    onRequest,
    onLog: () => running.drain(), // which ends no function that handles an event
  });
  const { origin, close } = await listen(new HttpServer(running.gateway));
  const send = async (method: string, Authorization: string, body?: string) => {
    const response = await fetch(`${origin}/live/a`, {
      method,
      headers: Authorization ? { Authorization } : {},
      ...(body && { body }),
    });
    return [response.status, await response.text()];
  };
  try {
    expect(await send("PUT", "ann", "text")).toEqual([200, "text of ann"]);
    expect(await send("GET", "bob")).toEqual([200, "text of bob"]);
    expect(onRequest.mock.calls.at(-1)?.[0].variables).toMatchObject({
      "authorizer.reader": "bob",
      "authorizer.principalId": "bob",
    });
    // A gateway response that the template does not set has the body of the default, and its own status.
    const refused = JSON.stringify({ error: "DEFAULT_4XX" });
    expect(await send("GET", "eve")).toEqual([403, refused]);
    expect(await send("GET", "")).toEqual([401, refused]);
    expect(await send("OPTIONS", "")).toEqual([204, ""]);
  } finally {
    await close();
    await running.stop();
    await store.close();
  }
});

const table = (BillingMode: object) => ({ Type: "AWS::DynamoDB::Table", Properties: { BillingMode } });
const get = (integration: object, authorization?: string) =>
  method("GET", { Ref: "Note" }, integration, authorization);
const [Api, Stage] = ["Api", "Live"].map((id) => (Resources as Record<string, { Type: string }>)[id]);
const keyed = get(proxy);
const single = { MethodSettings: [{ HttpMethod: "GET", ResourcePath: "/" }] };

it.each<[id: string, resource: object, reason: string]>([
  ["Queue", { Type: "AWS::Lambda::EventSourceMapping" }, "AWS::Lambda::EventSourceMapping is not supported"],
  ["Cognito", get(proxy, "COGNITO_USER_POOLS"), "it needs more than the authorizer"],
  [
    "Keyed",
    { ...keyed, Properties: { ...keyed.Properties, ApiKeyRequired: true } },
    "it needs more than the authorizer",
  ],
  ["Other", get({ Type: "HTTP_PROXY" }), "its integration is neither"],
  ["Away", get({ ...proxy, Uri: uri("Gone") }), "the template lacks its function"],
  ["Notes", fn("notes", { Runtime: "python3.14" }), "it is not a Node.js function"],
  ["Table", table({ "Fn::If": ["a", "b", "c"] }), "Fn::If is not supported"],
  ["Table", table({ Ref: "Size" }), "the parameter Size has no value here"],
  ["Second", { ...Stage }, "it is the second of its type"],
  ["Api", { ...Api, Properties: { Body: {} } }, "it has an OpenAPI document"],
  ["Live", { ...Stage, Properties: single }, "it has settings of single methods"],
])("refuses the resource %s, which it cannot serve, in one line: %j", async (id, resource, reason) => {
  const template = { Parameters: { Size: {} }, Resources: { ...Resources, [id]: resource } };
  const message = `The resource ${id} of the template cannot be served: ${reason}`;
  await expect(read(template)).rejects.toThrow(message);
});

it("needs the code of every function and a gateway response for every refusal, and says so before it serves", async () => {
  const start = async (without: string) => {
    const others = Object.entries(Resources).filter(([id]) => id !== without);
    return startStack(await read({ Resources: Object.fromEntries(others) }), options);
  };
  await expect(start("nothing")).rejects.toThrow("The code of the function Notes is missing: ");
  await expect(start("DEFAULT_5XX")).rejects.toThrow(
    "The template sets no body for AUTHORIZER_CONFIGURATION_ERROR or DEFAULT_5XX.",
  );
});
