import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import { stackName, stages } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { operations } from "../../../lib/operations.ts";
import { openApiDocument } from "../../../openapi/document.ts";
import { recordCalls } from "../../support/calls.ts";
import { authorizerEvent, context, requestEvent } from "../../support/event.ts";
import { functionFile } from "../../support/function-file.ts";
import { readTemplate } from "../../support/normalize.ts";
import { ownTables } from "../../support/own-tables.ts";
import { arnOf, readResources } from "../../support/resources.ts";

// Runs each function, and compares the calls that it makes with those that its role allows.

// biome-ignore lint/suspicious/noExplicitAny: templates and documents are untyped JSON
type Json = any;

const tables = await ownTables();
const send = DynamoDBDocumentClient.prototype.send as (command: unknown) => Promise<unknown>;
let taken = false;
/** Once, the id of a new pet is taken. */
jest.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(async function (
  this: DynamoDBDocumentClient,
  command: unknown,
) {
  if (taken && command instanceof PutCommand && command.input.TableName === tables.pets) {
    taken = false;
    throw new ConditionalCheckFailedException({ message: "taken", $metadata: {} });
  }
  return (await send.call(this, command)) as never;
});
const takeCalls = recordCalls();

const { paths } = openApiDocument() as Json;

/** Requests of an operation, made from its examples: as they are, repeated, and with an id that is taken. */
function requestsOf({ path, method }: (typeof operations)[number]) {
  const { requestBody, parameters } = paths[path][method.toLowerCase()];
  const example = requestBody?.content["application/json"].example;
  const inPath = parameters.filter((parameter: Json) => parameter.in === "path");
  const request = (key: string) =>
    requestEvent({
      path: Object.fromEntries(inPath.map(({ name }: Json) => [name, "1"])),
      headers: { "Content-Type": "application/json", "Idempotency-Key": key },
      body: example ? JSON.stringify(example) : null,
    });
  return [request("1"), request("1"), request(randomUUID())];
}

/** The calls that a function makes, from its start on, as `dynamodb:<action> <table>[/index/<index>]`. */
async function callsOf(id: string, events: object[]): Promise<Set<string>> {
  const { handler, warmedUp } = await import(`../../../functions/${functionFile(id)}.ts`);
  await warmedUp;
  for (const [n, event] of events.entries()) {
    taken = n === 2;
    await handler(event, context);
  }
  const logicalNames = { [tables.pets]: "Pets", [tables.claims]: "Claims", [tables.keys]: "Keys" };
  return new Set(
    takeCalls().map(({ command, input }) => {
      const action = command
        .replace(/^(Get|Put|Update|Delete)(Item)?Command$/, "$1Item")
        .replace(/Command$/, "");
      const index = input.IndexName ? `/index/${input.IndexName}` : "";
      return `dynamodb:${action} ${logicalNames[String(input.TableName)]}${index}`;
    }),
  );
}

const functions: [id: string, calls: Set<string>][] = [];
for (const operation of operations) {
  functions.push([operation.id, await callsOf(operation.id, requestsOf(operation))]);
}
functions.push([
  "authorize",
  await callsOf("authorize", [authorizerEvent(`Bearer ${generateApiKey("staging")}`)]),
]);

describe.each(stages)("in $name", ({ name }) => {
  const resources: [string, Json][] = Object.entries(
    readTemplate(process.env.TEST_ASSEMBLY ?? "", stackName(name)).Resources,
  );
  const found = (type: string, start: string) =>
    resources.filter(([id, { Type }]) => Type === type && new RegExp(`^${start}[0-9A-F]{8}$`, "i").test(id));

  /** A resource of a policy by the name of its construct, such as `Pets/index/byStatus`. */
  const nameOf = (resource: Json): string => {
    if (resource["Fn::Join"]) return resource["Fn::Join"][1].map(nameOf).join("");
    if (resource["Fn::GetAtt"]) return resource["Fn::GetAtt"][0].replace(/[0-9A-F]{8}$/, "");
    return resource;
  };

  it.each(functions)("%s may make exactly the calls that it makes, and write its own log", (id, calls) => {
    const [[roleId = "", role] = []] = found("AWS::IAM::Role", `${id}Role`);
    expect(Object.keys(role.Properties)).toEqual(["AssumeRolePolicyDocument"]);
    expect(role.Properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Action: "sts:AssumeRole", Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" } },
    ]);
    const [[, fn] = []] = found("AWS::Lambda::Function", id) as [string, Json][];
    expect(fn.Properties.Role).toEqual({ "Fn::GetAtt": [roleId, "Arn"] });

    const statements: Json[] = resources
      .filter(([, { Type, Properties }]) => Type === "AWS::IAM::Policy" && Properties.Roles[0].Ref === roleId)
      .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);
    expect(new Set(statements.map(({ Effect }) => Effect))).toEqual(new Set(["Allow"]));
    const allowed = statements.flatMap(({ Action, Resource }) =>
      [Action]
        .flat()
        .flatMap((action) => [Resource].flat().map((resource) => `${action} ${nameOf(resource)}`)),
    );
    const log = fn.Properties.LoggingConfig.LogGroup.Ref.replace(/[0-9A-F]{8}$/, "");
    // What is missing belongs into `access` in infra/stack.ts; what is too much does not.
    expect(allowed.toSorted()).toEqual(
      [...calls, `logs:CreateLogStream ${log}`, `logs:PutLogEvents ${log}`].toSorted(),
    );
    expect(log.toLowerCase()).toBe(`${id}logs`.toLowerCase());
  });

  const { find, only } = readResources(process.env.TEST_ASSEMBLY, stackName(name));

  it("only methods of this API, and its authorizer, invoke the functions", () => {
    const api = `arn:aws:execute-api:local:000000000000:${only("ApiGateway::RestApi").id}`;
    const sources = find("Lambda::Permission").map(({ Properties: { SourceArn, ...permission } }) => {
      expect(permission).toMatchObject({
        Action: "lambda:InvokeFunction",
        Principal: "apigateway.amazonaws.com",
      });
      return SourceArn;
    });
    const stage = only("ApiGateway::Stage").id;
    const methods = operations.map(
      ({ method, path }) => `${api}/${stage}/${method}${path.replace(/\{.*\}/, "*")}`,
    );
    expect(sources.sort()).toEqual(
      [...methods, `${api}/authorizers/${only("ApiGateway::Authorizer").id}`].sort(),
    );
  });

  it("the other roles are those of CodeDeploy, with the policy that AWS limits to Lambda", () => {
    const used = find("Lambda::Function").map(({ Properties }) => Properties.Role);
    const others = find("IAM::Role").filter(({ id }) => !used.includes(arnOf(id)));
    const groups = find("CodeDeploy::DeploymentGroup").map(({ Properties }) => Properties.ServiceRoleArn);
    expect(others.map(({ id }) => arnOf(id)).sort()).toEqual(groups.sort());
    for (const { Properties } of others)
      expect(Properties).toEqual({
        AssumeRolePolicyDocument: {
          Statement: [
            { Action: "sts:AssumeRole", Effect: "Allow", Principal: { Service: "codedeploy.amazonaws.com" } },
          ],
          Version: "2012-10-17",
        },
        ManagedPolicyArns: ["arn:aws:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited"],
      });
  });
});
