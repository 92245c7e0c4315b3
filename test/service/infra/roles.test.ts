import { randomUUID } from "node:crypto";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import { functionFile } from "../../../infra/bundle/options.ts";
import { stackName, stages } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { operations } from "../../../lib/operations.ts";
import { openApiDocument } from "../../../openapi/document.ts";
import { recordCalls } from "../../support/calls.ts";
import { authorizerEvent, context, requestEvent } from "../../support/event.ts";
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
    await send.call(this, new PutCommand({ ...command.input, Item: { id: command.input.Item?.id } }));
  }
  return (await send.call(this, command)) as never;
});
const takeCalls = recordCalls();

const { paths } = openApiDocument() as Json;

/** A call of DynamoDB; `index` is the end of the ARN if it reads an index. */
type Call = Record<"action" | "table" | "index", string>;

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

/** The calls that a function makes, from its start on. */
async function callsOf(id: string, events: object[]): Promise<Call[]> {
  const { handler, warmedUp } = await import(`../../../functions/${functionFile(id)}.ts`);
  await warmedUp;
  for (const [n, event] of events.entries()) {
    taken = n === 2;
    await handler(event, context);
  }
  return takeCalls().map(({ command, input }) => ({
    action: command.replace(/^(Get|Put|Update|Delete)(Item)?Command$/, "$1Item").replace(/Command$/, ""),
    table: String(input.TableName),
    index: input.IndexName ? `/index/${input.IndexName}` : "",
  }));
}

const functions: [id: string, calls: Call[]][] = [];
for (const operation of operations) {
  functions.push([operation.id, await callsOf(operation.id, requestsOf(operation))]);
}
functions.push([
  "authorize",
  await callsOf("authorize", [authorizerEvent(`Bearer ${generateApiKey("staging")}`)]),
]);

describe.each(stages)("in $name", ({ name }) => {
  const { find, fn, only, output, statementsOf } = readResources(process.env.TEST_ASSEMBLY, stackName(name));
  const deployed = {
    [tables.pets]: output("PetsTableName"),
    [tables.claims]: fn("createPet").Environment.Variables.CLAIMS_TABLE,
    [tables.keys]: output("KeysTableName"),
  };

  it.each(functions)("%s may make exactly the calls that it makes, and write its own log", (id, calls) => {
    const { Role, LoggingConfig, grants } = fn(id);
    const [role, second] = find("IAM::Role").filter((one) => arnOf(one.id) === Role);
    expect(second).toBeUndefined();
    expect(role?.Properties).toEqual({
      AssumeRolePolicyDocument: {
        Statement: [
          { Action: "sts:AssumeRole", Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" } },
        ],
        Version: "2012-10-17",
      },
    });
    for (const statement of statementsOf(role?.id ?? ""))
      expect(statement).toEqual({ Effect: "Allow", Action: expect.anything(), Resource: expect.anything() });
    const log = arnOf(LoggingConfig.LogGroup);
    const used = calls.map(
      ({ action, table, index }) => `dynamodb:${action} ${arnOf(deployed[table])}${index}`,
    );
    // What is missing belongs into `access` in infra/stack.ts; what is too much does not.
    expect(grants.map(({ action, resource }: Json) => `${action} ${resource}`).toSorted()).toEqual(
      [...new Set(used), `logs:CreateLogStream ${log}`, `logs:PutLogEvents ${log}`].toSorted(),
    );
  });

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
