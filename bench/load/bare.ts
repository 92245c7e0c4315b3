import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";

/**
 * The least that could stand in the service's place: one process with node:http and the document client, which
 * makes the same calls of DynamoDB and knows neither keys nor rules nor errors. Argument: the table's name.
 */
const [, , table = ""] = process.argv;
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const STATUSES = ["available", "pending", "sold"];

const query = async (status: string, limit: number) => {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      IndexName: "byStatus",
      KeyConditionExpression: "#status = :status AND id > :after",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":status": status, ":after": 0 },
      Limit: limit + 1,
    }),
  );
  return Items;
};

async function list(parameters: URLSearchParams) {
  const limit = Number(parameters.get("limit") ?? 20);
  const status = parameters.get("status");
  const found = await Promise.all((status ? [status] : STATUSES).map((each) => query(each, limit)));
  return found
    .flat()
    .sort((a, b) => a.id - b.id)
    .slice(0, limit);
}

async function get(id: number) {
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true }));
  return Item;
}

async function create(text: string) {
  const item = { id: Math.floor(Math.random() * 2 ** 52), ...JSON.parse(text) };
  await client.send(
    new PutCommand({ TableName: table, Item: item, ConditionExpression: "attribute_not_exists(id)" }),
  );
  return item;
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? "", "http://localhost");
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const id = Number(/\/(\d+)$/.exec(url.pathname)?.[1]);
  const done =
    request.method === "POST"
      ? create(Buffer.concat(chunks).toString())
      : id
        ? get(id)
        : list(url.searchParams);
  const answer = JSON.stringify(await done);
  response
    .writeHead(request.method === "POST" ? 201 : 200, { "content-type": "application/json" })
    .end(answer);
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
