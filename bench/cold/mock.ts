import { readFile } from "node:fs/promises";
import { Agent, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { newApiKeyRecord, scopes } from "../../lib/api-key.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";

/** A certificate for 127.0.0.1 and its key, which protect nothing. */
const certificate = join(import.meta.dirname, "benchmark-certificate.pem");

/**
 * Starts an HTTPS server on 127.0.0.1 that responds in place of DynamoDB, immediately. A table has one item, the last one
 * that was put, whatever a request asks for.
 *
 * @param apiKeysTable a table with `key`; the other tables are empty
 * @returns the environment variables of a function that calls it; to dispose of it stops the server
 */
export async function startMock(apiKeysTable: string, key: string) {
  const items = new Map<string, unknown>();
  const pem = await readFile(certificate);
  const server = createServer({ key: pem, cert: pem }, async (request, response) => {
    const { TableName, Item } = JSON.parse(await text(request));
    const item = items.get(TableName);
    if (Item) items.set(TableName, Item);
    // Where GetItem, Query, or a write with ReturnValues has it: a client ignores the rest.
    const body = JSON.stringify(Item ? {} : { Item: item, Items: item ? [item] : [], Attributes: item });
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "content-length": Buffer.byteLength(body),
    };
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const credentials = { accessKeyId: "bench", secretAccessKey: "bench" };
  const requestHandler = { httpsAgent: new Agent({ ca: pem }) };
  const keys = apiKeyStore(apiKeysTable, { endpoint, region: "us-east-1", credentials, requestHandler });
  await keys.add(newApiKeyRecord(key, { owner: "bench", scopes: [...scopes], createdAt: Date.now() }));
  const environment = {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    NODE_EXTRA_CA_CERTS: certificate,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  return { environment, [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() };
}
