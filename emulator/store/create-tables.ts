import { setTimeout as pause } from "node:timers/promises";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ListTablesCommand,
} from "@aws-sdk/client-dynamodb";
import { clientConfig, type StoreAddress } from "./aws-environment.ts";

/** In milliseconds, for any DynamoDB-compatible server, which can be slow. */
const TIMEOUTS = { connectionTimeout: 2000, requestTimeout: 5000, throwOnRequestTimeout: true };
/** How long a table can take to become ACTIVE. */
const ACTIVE_TIMEOUT_MS = 60_000;

const clientOf = (store: StoreAddress) =>
  new DynamoDBClient({ ...clientConfig(store), maxAttempts: 2, requestHandler: TIMEOUTS });

/** @throws Error in one line when the endpoint does not respond as DynamoDB does, or not before `abortSignal` */
export async function checkEndpoint(store: StoreAddress, abortSignal?: AbortSignal): Promise<void> {
  const client = clientOf(store);
  await client.send(new ListTablesCommand({ Limit: 1 }), { abortSignal }).catch((error) => {
    throw unusable(store.endpoint, error);
  });
  client.destroy();
}

/** The tables of the endpoint are not those of the template. */
export class OtherTables extends Error {}

/**
 * Creates those of a template's tables that are missing, and waits until all are ACTIVE.
 *
 * @param store a DynamoDB-compatible server
 * @throws OtherTables when a table exists without an index of the template, or Error in one line when it fails, or a table
 *   does not become ACTIVE
 */
export async function createTables(store: StoreAddress, tables: CreateTableCommandInput[]): Promise<void> {
  const { endpoint } = store;
  const client = clientOf(store);
  try {
    for (const table of tables) {
      await client.send(new CreateTableCommand(table)).catch((error) => {
        if (error.name !== "ResourceInUseException") throw unusable(endpoint, error);
      });
    }
    for (const { TableName = "", GlobalSecondaryIndexes = [] } of tables) {
      const existing = await waitForTable(client, endpoint, TableName);
      const names = new Set(existing.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
      const absent = GlobalSecondaryIndexes.find(({ IndexName }) => !names.has(IndexName))?.IndexName;
      if (absent) throw new OtherTables(`The table ${TableName} at ${endpoint} has no index ${absent}.`);
    }
  } finally {
    client.destroy();
  }
}

async function waitForTable(client: DynamoDBClient, endpoint: string, name: string) {
  const deadline = Date.now() + ACTIVE_TIMEOUT_MS;
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name })).catch((error) => {
      throw unusable(endpoint, error);
    });
    if (Table?.TableStatus === "ACTIVE") return Table;
    if (Date.now() > deadline)
      throw new Error(`The table ${name} at ${endpoint} is still ${Table?.TableStatus} after a minute.`);
    await pause(100);
  }
}

const unusable = (endpoint: string, { name, message, code }: NodeJS.ErrnoException) =>
  new Error(`The DynamoDB endpoint ${endpoint} cannot be used: ${message || code || name}`);
