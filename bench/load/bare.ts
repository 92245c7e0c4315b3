import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { servedStack } from "../../infra/stages.ts";
import { readStack } from "../../local/assembly/template.ts";
import { setAwsEnvironment } from "../../local/store/aws-environment.ts";
import { createTables } from "../../local/store/create-tables.ts";
import { startStore } from "../../local/store/store.ts";

/**
 * The least code that serves the same requests: one process with node:http and the document client, which makes
 * the same DynamoDB calls and has no keys, validation or error handling. The embedded store is the service's, in a thread
 * of its own. Arguments: the folder of its data, the folder of the assembly.
 */
const [, , folder, assembly = ""] = process.argv;
const { tables, outputs } = readStack(assembly, servedStack);
const table = outputs.PetsTableName ?? "";
const { endpoint } = await startStore(folder);
setAwsEnvironment(endpoint);
await createTables(endpoint, tables);
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const STATUSES = ["available", "pending", "sold"];

async function query(status: string, limit: number) {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      IndexName: "byStatus",
      KeyConditionExpression: "statusShard = :status AND id > :after",
      ExpressionAttributeValues: { ":status": status, ":after": 0 },
      Limit: limit + 1,
    }),
  );
  return Items;
}

async function list(parameters: URLSearchParams) {
  const limit = Number(parameters.get("limit") ?? 20);
  const status = parameters.get("status");
  const pages = await Promise.all((status ? [status] : STATUSES).map((status) => query(status, limit)));
  return pages
    .flat()
    .sort((a, b) => a.id - b.id)
    .slice(0, limit);
}

async function get(id: number) {
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true }));
  return Item;
}

async function create(body: string) {
  const pet = { id: Math.floor(Math.random() * 2 ** 52), ...JSON.parse(body) };
  const Item = { ...pet, statusShard: pet.status };
  await client.send(
    new PutCommand({ TableName: table, Item, ConditionExpression: "attribute_not_exists(id)" }),
  );
  return pet;
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
  const [, id] = /\/(\d+)$/.exec(pathname) ?? [];
  const created = request.method === "POST";
  const result = created ? create(await text(request)) : id ? get(Number(id)) : list(searchParams);
  const body = JSON.stringify(await result);
  response.writeHead(created ? 201 : 200, { "content-type": "application/json" }).end(body);
});
process.on("SIGTERM", () => process.exit());
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
