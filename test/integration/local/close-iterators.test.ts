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

await createTables(endpoint, [
  {
    TableName: "leak",
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
  },
]);
for (const id of ["1", "2", "3"]) {
  await client.send(new PutItemCommand({ TableName: "leak", Item: { id: { S: id } } }));
}

/** The number of iterators that a call leaves open. */
async function leftOpen(call: () => Promise<unknown>): Promise<number> {
  attached.mockClear();
  detached.mockClear();
  await call();
  // The stream closes its iterator after the response.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(attached).toHaveBeenCalled();
  return attached.mock.calls.length - detached.mock.calls.length;
}

const scan = (Limit?: number) => client.send(new ScanCommand({ TableName: "leak", Limit }));
const query = (Limit?: number) =>
  client.send(
    new QueryCommand({
      TableName: "leak",
      KeyConditionExpression: "id = :id",
      ExpressionAttributeValues: { ":id": { S: "2" } },
      Limit,
    }),
  );

it("closes the iterators that dynalite leaves open", async () => {
  // If dynalite closes them itself, local/store/close-iterators.ts can be removed.
  expect(await leftOpen(() => query(1))).toBeGreaterThan(0);
  expect(await leftOpen(query)).toBeGreaterThan(0);

  closeIterators();
  const deleteTable = () => client.send(new DeleteTableCommand({ TableName: "leak" }));
  const listTables = () => client.send(new ListTablesCommand({}));
  for (const call of [() => query(1), query, () => scan(1), scan, listTables, deleteTable]) {
    expect(await leftOpen(call)).toBe(0);
  }

  // It does not replace a return() that exists.
  expect(closeIterators).toThrow("remove local/store/close-iterators.ts");
});
