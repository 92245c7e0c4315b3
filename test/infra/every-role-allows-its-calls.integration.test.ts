import { beforeAll, describe, expect, it, jest } from "@jest/globals";
import type { APIGatewayProxyResult } from "aws-lambda";
import { entryName, stackName } from "../../infra/names.ts";
import { generateApiKey } from "../../lib/api-key.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { recordCalls } from "../support/calls.ts";
import { COLLIDING_KEYS } from "../support/colliding-keys.ts";
import { authorizerEvent, context, exampleEvents } from "../support/event.ts";
import { addItems } from "../support/items.ts";
import type { Json } from "../support/json.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { arnOf, functionNames, readResources } from "../support/resources.ts";
import { stageVariants } from "../support/stages.ts";

// Runs each function, and compares the calls that it makes with those that its role allows.

await createOwnTables();
const takeCalls = recordCalls();
jest.spyOn(Date, "now").mockReturnValue(Date.UTC(2020)); // before every sunset

/** A call of DynamoDB; `index` is the end of the ARN if it reads an index. */
type Call = Record<"action" | "table" | "index", string>;

/** Starts a function and sends it events, and returns its responses, and its calls without those that prepare an event. */
async function run(name: string, events: (() => Promise<object>)[]) {
  const { handler, ready } = await import(`../../functions/${entryName(name)}.ts`);
  await ready;
  const [recorded, responses] = [takeCalls(), [] as APIGatewayProxyResult[]];
  for (const prepare of events) {
    const event = await prepare();
    takeCalls();
    responses.push(await handler(event, context));
    recorded.push(...takeCalls());
  }
  const calls = recorded.map(
    ({ command, input }): Call => ({
      action: command.replace(/^(Get|Put|Update|Delete)(Item)?Command$/, "$1Item").replace(/Command$/, ""),
      table: String(input.TableName),
      index: input.IndexName ? `/index/${input.IndexName}` : "",
    }),
  );
  return { calls, responses };
}

/** Runs an operation with each example of a request: with its item, with an id that is taken, and without the item. */
async function runOperation(operation: Operation): Promise<Call[]> {
  const [first, second] = COLLIDING_KEYS;
  const { id, success } = operation;
  const parents = operation.method === "POST" && (await addItems(operation.path)); // of a creation and its retries
  takeCalls();
  const eventsWith = (key: string, hasItem = true) =>
    exampleEvents(operation).map(({ eventFor }) => async () => {
      const event = eventFor(hasItem ? { path: parents || (await addItems(operation.path)) } : {});
      if ("Idempotency-Key" in event.multiValueHeaders) event.multiValueHeaders["Idempotency-Key"] = [key];
      return event;
    });
  const withItem = [...eventsWith(first), ...eventsWith(second)];
  const { calls, responses } = await run(id, [...withItem, ...eventsWith("without", false)]);
  const failed = responses.slice(0, withItem.length).filter((one) => one.statusCode !== success.status);
  expect({ id, failed }).toEqual({ id, failed: [] });
  return calls;
}

/** The calls of each function. */
const calls: Record<string, Call[]> = {};
beforeAll(async () => {
  for (const operation of operations) calls[operation.id] = await runOperation(operation);
  const ofStaging = async () => authorizerEvent(`Bearer ${generateApiKey("staging")}`);
  calls.authorize = (await run("authorize", [ofStaging])).calls;
});

describe.each(stageVariants)("in $name, $settings", ({ name: stage, assembly }) => {
  const { find, fn } = readResources(assembly, stackName(stage));

  it.each(functionNames)("%s may make exactly the calls that it makes, and write its own log", (name) => {
    const { LoggingConfig, Environment, grants } = fn(name);
    const log = arnOf(LoggingConfig.LogGroup);
    // The variable that has the name of the table here has the name of the deployed one in the stack.
    const deployed = (table: string) =>
      Object.entries<string>(Environment.Variables).find(
        ([variable]) => process.env[variable] === table,
      )?.[1];
    const used = (calls[name] ?? []).map(
      ({ action, table, index }) => `dynamodb:${action} ${arnOf(deployed(table) ?? "")}${index}`,
    );
    // A call that has no grant needs one in `access` in infra/function-set.ts. A grant that no call uses is wrong,
    // unless no example makes the call: then its parameter needs an example that does.
    expect(grants.map(({ action, resource }: Json) => `${action} ${resource}`).sort()).toEqual(
      [...new Set(used), `logs:CreateLogStream ${log}`, `logs:PutLogEvents ${log}`].toSorted(),
    );
  });

  // CloudFormation updates a role that has the same id, also for a version that it was published with.
  it.each(functionNames)("%s has its own role, whose id names its calls", (name) => {
    const { Role, grants } = fn(name);
    expect(find("Lambda::Function").filter((one) => one.Role === Role)).toHaveLength(1);
    expect(find("IAM::Role").find(({ id }) => arnOf(id) === Role)).not.toHaveProperty("ManagedPolicyArns");
    const actions = grants.filter(({ action }: Json) => action.startsWith("dynamodb:"));
    for (const { action } of actions) expect(Role).toContain(action.slice("dynamodb:".length));
  });
});
