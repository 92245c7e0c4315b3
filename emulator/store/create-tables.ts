import { setTimeout as pause } from "node:timers/promises";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ListTablesCommand,
} from "@aws-sdk/client-dynamodb";

/** In milliseconds, for any DynamoDB-compatible server, which can be slow. */
const TIMEOUTS = { connectionTimeout: 2000, requestTimeout: 5000, throwOnRequestTimeout: true };
/** How long a table can take to become ACTIVE. */
const ACTIVE_TIMEOUT_MS = 60_000;

const clientOf = (endpoint: string) =>
  new DynamoDBClient({ endpoint, maxAttempts: 2, requestHandler: TIMEOUTS });

/** @throws Error in one line when the endpoint does not respond as DynamoDB does, or not before `abortSignal` */
export async function checkEndpoint(endpoint: string, abortSignal?: AbortSignal): Promise<void> {
  const client = clientOf(endpoint);
  await client.send(new ListTablesCommand({ Limit: 1 }), { abortSignal }).catch((error) => {
    throw unusable(endpoint, error);
  });
  client.destroy();
}

/**
 * Creates those of a template's tables that are missing, and waits until all are ACTIVE.
 *
 * @param endpoint a DynamoDB-compatible server
 * @throws Error in one line when it fails, or a table does not become ACTIVE
 */
export async function createTables(endpoint: string, tables: CreateTableCommandInput[]): Promise<void> {
  const client = clientOf(endpoint);
  try {
    for (const table of tables) {
      await client.send(new CreateTableCommand(table)).catch((error) => {
        if (error.name !== "ResourceInUseException") throw unusable(endpoint, error);
      });
    }
    for (const { TableName = "" } of tables) await waitForTable(client, endpoint, TableName);
  } finally {
    client.destroy();
  }
}

async function waitForTable(client: DynamoDBClient, endpoint: string, name: string): Promise<void> {
  const deadline = Date.now() + ACTIVE_TIMEOUT_MS;
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name })).catch((error) => {
      throw unusable(endpoint, error);
    });
    if (Table?.TableStatus === "ACTIVE") return;
    if (Date.now() > deadline) {
      throw new Error(`The table ${name} at ${endpoint} is still ${Table?.TableStatus} after a minute.`);
    }
    await pause(100);
  }
}

function unusable(endpoint: string, { name, message, code }: NodeJS.ErrnoException): Error {
  return new Error(`The DynamoDB endpoint ${endpoint} cannot be used: ${message || code || name}`);
}
