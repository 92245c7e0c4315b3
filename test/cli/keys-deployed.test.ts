import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { keysCli, keysJson } from "../support/keys-cli.ts";
import { ownTables } from "../support/own-tables.ts";

// A deployed stage: CloudFormation describes its stack, and its tables are in DynamoDB.
const outputs: Record<string, string> = {};
const cloudFormation = createServer(async (request, response) => {
  const stack = new URLSearchParams(await text(request)).get("StackName");
  const members = Object.entries(outputs).map(
    ([name, value]) => `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const error = "<Error><Type>Sender</Type><Code>ValidationError</Code><Message>No stack</Message></Error>";
  const found = stack === "animal-store-staging";
  response.writeHead(found ? 200 : 400, { "Content-Type": "text/xml" });
  response.end(
    found
      ? `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${stack}</StackName><Outputs>${members.join("")}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`
      : `<ErrorResponse>${error}</ErrorResponse>`,
  );
});

const environment = () => ({
  AWS_REGION: "eu-west-1",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${(cloudFormation.address() as AddressInfo).port}`,
  AWS_ENDPOINT_URL_DYNAMODB: process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "",
});

let keysTable: string;

beforeAll(async () => {
  const tables = await ownTables();
  keysTable = tables.keys;
  Object.assign(outputs, { BaseUrl: "x", PetsTableName: tables.pets, KeysTableName: tables.keys });
  await new Promise<void>((resolve) => cloudFormation.listen(0, "127.0.0.1", resolve));
});

afterAll(() => new Promise((resolve) => cloudFormation.close(resolve)));

it("manages the keys in the keys table of the stack, beyond one page of a Scan", async () => {
  // A Scan returns at most 1 MB (AWS: "Scan", paginating the results).
  const client = new DynamoDBClient();
  for (let n = 0; n < 5; n++) {
    const Item = {
      hash: { S: `padding-${n}` },
      keyId: { S: `key_${n}` },
      name: { S: "Padded" },
      padding: { S: "x".repeat(300_000) },
      scopes: { SS: ["pets:read"] },
      createdAt: { N: "1" },
    };
    await client.send(new PutItemCommand({ TableName: keysTable, Item }));
  }
  client.destroy();
  const { keyId } = await keysJson(["issue", "--name", "Staging", "--stage", "staging"], environment());
  const listed: { keyId: string }[] = await keysJson(["list", "--stage", "staging"], environment());
  expect(listed.map((key) => key.keyId)).toEqual(["key_0", "key_1", "key_2", "key_3", "key_4", keyId]);
  expect(await keysJson(["show", keyId, "--stage", "staging"], environment())).toMatchObject({
    name: "Staging",
  });
});

it("says that a stack is not deployed, or has no keys table", async () => {
  const list = (stage: string) => keysCli(["list", "--stage", stage], environment());
  expect(await list("production")).toEqual({
    code: 1,
    stdout: "",
    stderr: "keys: The stack animal-store-production is not deployed in eu-west-1.\n",
  });
  const { KeysTableName, ...others } = outputs;
  delete outputs.KeysTableName;
  const { stderr } = await list("staging");
  Object.assign(outputs, others, { KeysTableName });
  expect(stderr).toBe(
    "keys: The stack animal-store-staging in eu-west-1 is incomplete: it has no keys table.\n",
  );
});

it("says that the keys table cannot be used", async () => {
  const unreachable = { ...environment(), AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:1" };
  const { code, stderr } = await keysCli(["list", "--stage", "staging"], unreachable);
  expect([code, stderr]).toEqual([
    1,
    "keys: The keys table cannot be used: connect ECONNREFUSED 127.0.0.1:1\n",
  ]);
});
