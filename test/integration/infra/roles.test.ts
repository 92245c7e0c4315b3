import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { entryName } from "../../../infra/bundle/options.ts";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { creationStore } from "../../../lib/dynamo/pet-store.ts";
import { type Operation, operations } from "../../../lib/operations.ts";
import { recordCalls } from "../../support/calls.ts";
import { authorizerEvent, context, exampleEvent } from "../../support/event.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { arnOf, readResources } from "../../support/resources.ts";

// Runs each function, and compares the calls that it makes with those that its role allows.

const tables = await createOwnTables();
const send = DynamoDBDocumentClient.prototype.send as (command: unknown) => Promise<unknown>;
let taken = false;
/** Once, the id of a new pet is taken. */
jest.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(async function (
  this: DynamoDBDocumentClient,
  command: unknown,
) {
  if (taken && command instanceof PutCommand && command.input.TableName === tables.pets) {
    taken = false;
    const { TableName, Item } = command.input;
    const retired = { id: Item?.id }; // if the id is free
    const ConditionExpression = "attribute_not_exists(id)";
    await send.call(this, new PutCommand({ TableName, Item: retired, ConditionExpression })).catch(() => {});
  }
  return (await send.call(this, command)) as never;
});
const takeCalls = recordCalls();
jest.spyOn(console, "info").mockImplementation(() => undefined); // a refused key

const { create } = creationStore({ pets: tables.pets, claims: tables.claims }, 1);

/** A call of DynamoDB; `index` is the end of the ARN if it reads an index. */
type Call = Record<"action" | "table" | "index", string>;

/** Starts a function, and records the calls that it makes from then on. */
async function started(id: string) {
  const { handler, ready } = await import(`../../../functions/${entryName(id)}.ts`);
  await ready;
  const calls = takeCalls();
  return {
    /** Returns the status of a response. @param prepare makes calls of its own */
    async handle(prepare: () => Promise<object>): Promise<number> {
      const event = await prepare();
      takeCalls();
      const { statusCode } = await handler(event, context);
      calls.push(...takeCalls());
      return statusCode;
    },
    calls: () =>
      calls.map(({ command, input }) => ({
        action: command.replace(/^(Get|Put|Update|Delete)(Item)?Command$/, "$1Item").replace(/Command$/, ""),
        table: String(input.TableName),
        index: input.IndexName ? `/index/${input.IndexName}` : "",
      })),
  };
}

/** The calls of an operation: with a pet, again, with an id that is taken, and without the pet. */
async function callsOf(operation: Operation): Promise<Call[]> {
  const { handle, calls } = await started(operation.id);
  const event = (key: string, petId: string) => {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    return exampleEvent(operation, petId, { headers });
  };
  for (const key of ["1", "1", "2"]) {
    const status = await handle(async () => {
      const { id } = await create({ name: "Rex", categoryId: 1n, status: "available" });
      taken = key === "2";
      return event(key, String(id));
    });
    if (status !== operation.success.status)
      throw new Error(`${operation.id} responded to its example with ${status}.`);
  }
  taken = false;
  await handle(async () => event("3", "1"));
  return calls();
}

const functions: [id: string, calls: Call[]][] = [];
for (const operation of operations) functions.push([operation.id, await callsOf(operation)]);
const authorizer = await started("authorize");
await authorizer.handle(async () => authorizerEvent(`Bearer ${generateApiKey("staging")}`));
functions.push(["authorize", authorizer.calls()]);

describe.each(deployedStages)("in $name", ({ name }) => {
  const { find, fn, only, output, statementsOf } = readResources(process.env.TEST_ASSEMBLY, stackName(name));
  const deployed = {
    [tables.pets]: output("PetsTableName"),
    [tables.claims]: fn("createPet").Environment.Variables.CLAIMS_TABLE,
    [tables.keys]: output("ApiKeysTableName"),
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
    // What is missing belongs into `access` in infra/animal-store-stack.ts; what is too much does not.
    expect(grants.map(({ action, resource }: Json) => `${action} ${resource}`).toSorted()).toEqual(
      [...new Set(used), `logs:CreateLogStream ${log}`, `logs:PutLogEvents ${log}`].toSorted(),
    );
  });

  it("only methods of this API, and its authorizer, invoke the functions", () => {
    const api = `arn:aws:execute-api:local:000000000000:${only("ApiGateway::RestApi").id}`;
    const probe = find("Lambda::Function").filter(
      ({ id }) => !functions.some(([name]) => fn(name).id === id),
    );
    const sources = find("Lambda::Permission")
      .map(({ Properties }) => Properties)
      .filter(({ FunctionName }) => !probe.some(({ id }) => arnOf(id) === FunctionName))
      .map(({ SourceArn, Action, Principal }) => {
        expect([Action, Principal]).toEqual(["lambda:InvokeFunction", "apigateway.amazonaws.com"]);
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
