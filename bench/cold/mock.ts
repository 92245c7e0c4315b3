import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** A certificate for 127.0.0.1 and its key, which protect nothing. */
const certificate = fileURLToPath(new URL("benchmark-certificate.pem", import.meta.url));

const pet = { id: { N: "1" }, name: { S: "Rex" }, categoryId: { N: "1" }, status: { S: "available" } };
const apiKey = {
  hash: { S: "bench" },
  keyId: { S: "key_bench" },
  name: { S: "bench" },
  scopes: { SS: ["pets:read"] },
  createdAt: { N: "0" },
};

/** The responses of the DynamoDB operations. Those of the others have no content. */
const responses: Record<string, (input: { TableName?: string }) => unknown> = {
  GetItem: ({ TableName }) => ({ Item: TableName === "Keys" ? apiKey : pet }),
  Query: () => ({ Items: [pet], Count: 1, ScannedCount: 1 }),
};

/**
 * Starts an HTTPS server on 127.0.0.1 that sends DynamoDB's responses immediately, always the same ones.
 *
 * @returns the environment variables of a function that calls it
 */
export async function startMock() {
  const pem = await readFile(certificate);
  const server = createServer({ key: pem, cert: pem }, async (request, response) => {
    const input = JSON.parse(await text(request));
    const [, operation = ""] = String(request.headers["x-amz-target"]).split(".");
    const body = JSON.stringify(responses[operation]?.(input) ?? {});
    const headers = { "content-type": "application/x-amz-json-1.0", "content-length": body.length };
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      NODE_EXTRA_CA_CERTS: certificate,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "bench",
      AWS_SECRET_ACCESS_KEY: "bench",
      PETS_TABLE: "Pets",
      CLAIMS_TABLE: "Claims",
      KEYS_TABLE: "Keys",
      STATUS_SHARDS: "1",
      STAGE: "local",
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
