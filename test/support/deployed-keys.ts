import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeEach, expect, jest } from "@jest/globals";
import { program } from "../../cli/keys.ts";
import { stackName } from "../../infra/names.ts";
import { listen } from "./listen.ts";
import { createOwnTables } from "./own-tables.ts";
import { runInProcess } from "./run-in-process.ts";

// `npm run keys` for a stage in AWS, whose stack is described by a stand-in of CloudFormation. The clock stands still.

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const start = Date.parse("2026-11-21T12:00:00Z");
export const iso = (at: number) => new Date(at).toISOString();

export const tables = await createOwnTables();

export const output = (key: string, value: string) =>
  `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`;
export const stackWith = (outputs: string) =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${outputs}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
export const deployed = stackWith(
  output("PetsTableName", tables.petsTable) + output("ApiKeysTableName", tables.apiKeysTable),
);
export const error = (code: string, message: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

/** What a test can change. */
export const world = {
  /** milliseconds since 1970 */
  now: start,
  /** what CloudFormation returns for a stack; AWS: "DescribeStacks", examples, and "Common errors" */
  stacks: {} as Record<string, string>,
};
const cloudFormation = await listen(
  createServer(async (request, response) => {
    const { StackName: name = "" } = Object.fromEntries(new URLSearchParams(await text(request)));
    const body = world.stacks[name] ?? error("ValidationError", `Stack with id ${name} does not exist`);
    response.writeHead(body.startsWith("<Error") ? 400 : 200, { "Content-Type": "text/xml" }).end(body);
  }),
);

export const region = { AWS_REGION: "eu-west-1" };
const { AWS_ACCESS_KEY_ID = "" } = process.env; // the store accepts no other
export const credentials = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: "test" };
export const endpoints = {
  AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.origin,
  AWS_ENDPOINT_URL_DYNAMODB: process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "",
};

export const run = (args: string[], environment: Record<string, string> = credentials) =>
  runInProcess(program, "keys", args, { ...endpoints, ...region, ...environment });
export const keys = (...args: string[]) =>
  run([...args, ...(/^(list|show)$/.test(args[0] ?? "") ? [] : ["--yes"]), "--stage", "staging"]);
export const print = async (...args: string[]) => {
  const { code, stdout, stderr } = await keys(...args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};
export const json = async (...args: string[]) => JSON.parse(await print(...args, "--json"));
export const failure = (message: string) => ({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
/** The states of the keys of an owner. */
export const statesOf = async (owner: string) => {
  const listed: { owner: string; state: string }[] = await json("list");
  return listed.flatMap((key) => (key.owner === owner ? key.state : [])).sort();
};

beforeEach(() => {
  world.stacks = { [stackName("staging")]: deployed };
  world.now = start;
  jest.spyOn(Date, "now").mockImplementation(() => world.now);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(cloudFormation.close);

/** Does something before, or after, each command of a kind that a program sends to the table. */
export function interrupt(kind: string, before: () => unknown, after = () => {}): void {
  const target = DynamoDBClient.prototype as unknown as { send: (...args: object[]) => Promise<unknown> };
  const { send } = target;
  jest.spyOn(target, "send").mockImplementation(async function (this: unknown, ...args) {
    const matches = args[0]?.constructor.name === kind;
    if (matches) await before();
    const output = await send.apply(this, args);
    if (matches) after();
    return output;
  });
}

export const fail = () => {
  throw new Error("down");
};
