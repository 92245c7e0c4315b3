import { readFile } from "node:fs/promises";
import { Agent, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { useStore } from "../../../emulator/store/aws-environment.ts";
import { newApiKeyRecord, scopes } from "../../../lib/api-key.ts";
import { apiKeyStore } from "../../../lib/dynamo/api-key-store.ts";
import { dynamoClient } from "../../../lib/dynamo/client.ts";
import { ORDER_ATTRIBUTE } from "../../../lib/dynamo/item-creator.ts";

/** A certificate for 127.0.0.1 and its key, which protect nothing. */
const certificate = join(import.meta.dirname, "certificate.pem");

/** The pet that every operation finds. */
export const PET_ID = 1n;

/**
 * Starts an HTTPS server on 127.0.0.1 that responds in place of DynamoDB, immediately. It keeps the first item that was put
 * with a key, so that an operation which changes or deletes the pet leaves it for the others.
 *
 * @param tables one with `key`, and one with the pet; the other tables are empty
 * @returns the environment variables of a function that calls it; to dispose of it stops the server
 */
export async function startMock(tables: { apiKeys: string; pets: string }, key: string) {
  const items = new Map<string, Map<string, unknown>>();
  const keyOf = ({ id, keyId }: Record<string, unknown>) => JSON.stringify(id ?? keyId);
  const pem = await readFile(certificate);
  const server = createServer({ key: pem, cert: pem }, async (request, response) => {
    const { TableName, Item, Key } = JSON.parse(await text(request));
    const table = items.get(TableName) ?? new Map<string, unknown>();
    items.set(TableName, table);
    if (Item && !table.has(keyOf(Item))) table.set(keyOf(Item), Item);
    const item = Key && table.get(keyOf(Key));
    // Where GetItem, Query, or a write with ReturnValues has it: a client ignores the rest.
    const body = JSON.stringify(Item ? {} : { Item: item, Items: [...table.values()], Attributes: item });
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "content-length": Buffer.byteLength(body),
    };
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const environment = { ...useStore({ endpoint }), NODE_EXTRA_CA_CERTS: certificate };
  const config = { requestHandler: { httpsAgent: new Agent({ ca: pem }) } };
  const record = newApiKeyRecord(key, { owner: "cold-start", scopes: [...scopes], createdAt: Date.now() });
  await apiKeyStore(tables.apiKeys, config).add(record);
  const pet = { id: PET_ID, name: "Rex", categoryId: 1n, status: "available" as const };
  const put = new PutCommand({ TableName: tables.pets, Item: { ...pet, [ORDER_ATTRIBUTE]: 1n } });
  await DynamoDBDocumentClient.from(dynamoClient(config)).send(put);
  return { environment, [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() };
}
