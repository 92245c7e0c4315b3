import {
  DeleteTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, expect, it, jest } from "@jest/globals";
import { AbstractLevel } from "abstract-level";
import dynalite from "dynalite";
import { closeIterators } from "../../../local/store/close-iterators.ts";
import { createTables } from "../../../local/store/create-tables.ts";
import { eventually } from "../../support/eventually.ts";
import { listen } from "../../support/listen.ts";

// A database holds its iterators from attachResource to detachResource.
const attached = jest.spyOn(AbstractLevel.prototype, "attachResource");
const detached = jest.spyOn(AbstractLevel.prototype, "detachResource");
const server = dynalite({ createTableMs: 0 });
const { origin: endpoint, close } = await listen(server);
const client = new DynamoDBClient({ endpoint });
afterAll(() => {
  client.destroy();
  return close();
});

const TableName = "leak";
await createTables(endpoint, [
  {
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
  },
]);
for (const S of ["1", "2", "3"]) await client.send(new PutItemCommand({ TableName, Item: { id: { S } } }));

/** Makes a call, and waits until as many iterators as expected are open. */
async function expectOpen(call: () => Promise<unknown>, check: (open: number) => void): Promise<void> {
  attached.mockClear();
  detached.mockClear();
  await call();
  expect(attached).toHaveBeenCalled();
  // The stream closes its iterator after the response.
  await eventually(() => attached.mock.calls.length - detached.mock.calls.length, check);
}

it("closes the iterators that dynalite leaves open", async () => {
  const KeyConditionExpression = "id = :id";
  const ExpressionAttributeValues = { ":id": { S: "2" } };
  const read = (Limit?: number) => [
    () => client.send(new ScanCommand({ TableName, Limit })),
    () =>
      client.send(new QueryCommand({ TableName, KeyConditionExpression, ExpressionAttributeValues, Limit })),
  ];
  closeIterators();
  const listTables = () => client.send(new ListTablesCommand({}));
  const deleteTable = () => client.send(new DeleteTableCommand({ TableName }));
  for (const call of [...read(), ...read(1), listTables, deleteTable])
    await expectOpen(call, (open) => expect(open).toBe(0));

  // It does not replace a return() that exists.
  expect(closeIterators).toThrow("remove local/store/close-iterators.ts");
});
