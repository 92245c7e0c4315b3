import { readFile } from "node:fs/promises";
import { Agent, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { newApiKeyRecord, scopes } from "../../lib/api-key.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";

/** A certificate for 127.0.0.1 and its key, which protect nothing. */
const certificate = fileURLToPath(new URL("benchmark-certificate.pem", import.meta.url));

/**
 * What DynamoDB responds. A table has one item, the last one that was put, whatever a request asks for. Every other
 * response has it where GetItem, Query, or a write with ReturnValues has it: a client ignores the rest.
 */
function respond(items: Map<string, unknown>, { TableName, Item }: { TableName: string; Item?: unknown }) {
  const item = items.get(TableName);
  if (!Item) return { Item: item, Items: item ? [item] : [], Attributes: item };
  items.set(TableName, Item);
  return {};
}

/**
 * Starts an HTTPS server on 127.0.0.1 that responds in place of DynamoDB, immediately.
 *
 * @param apiKeysTable a table with `key`; the other tables are empty
 * @returns the environment variables of a function that calls it
 */
export async function startMock(apiKeysTable: string, key: string) {
  const items = new Map<string, unknown>();
  const pem = await readFile(certificate);
  const server = createServer({ key: pem, cert: pem }, async (request, response) => {
    const body = JSON.stringify(respond(items, JSON.parse(await text(request))));
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
  return {
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      NODE_EXTRA_CA_CERTS: certificate,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
