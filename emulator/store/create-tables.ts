import { setTimeout as pause } from "node:timers/promises";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import { clientConfig, type StoreAddress } from "./aws-environment.ts";

/** In milliseconds, for any DynamoDB-compatible server, which can be slow. */
const TIMEOUTS = { connectionTimeout: 2000, requestTimeout: 5000, throwOnRequestTimeout: true };
/** How long a table can take to become ACTIVE. */
const ACTIVE_TIMEOUT_MS = 60_000;

const clientOf = (store: StoreAddress) =>
  new DynamoDBClient({ ...clientConfig(store), maxAttempts: 2, requestHandler: TIMEOUTS });

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
    const table = await describeWith(client, endpoint, name);
    if (table.TableStatus === "ACTIVE") return table;
    if (Date.now() > deadline)
      throw new Error(`The table ${name} at ${endpoint} is still ${table.TableStatus} after a minute.`);
    await pause(100);
  }
}

/** @throws Error in one line when the endpoint does not have the table, or does not respond before `abortSignal` */
export async function describeTable(store: StoreAddress, name: string, abortSignal: AbortSignal) {
  const client = clientOf(store);
  return describeWith(client, store.endpoint, name, abortSignal).finally(() => client.destroy());
}

async function describeWith(
  client: DynamoDBClient,
  endpoint: string,
  name: string,
  abortSignal?: AbortSignal,
) {
  const command = new DescribeTableCommand({ TableName: name });
  const { Table } = await client.send(command, { abortSignal }).catch((error) => {
    throw unusable(endpoint, error);
  });
  // Another program can listen there, and any JSON passes for the response of a write.
  if (Table?.TableName !== name)
    throw unusable(endpoint, new Error(`it does not describe the table ${name}`));
  return Table;
}

const unusable = (endpoint: string, { name, message, code }: NodeJS.ErrnoException) =>
  new Error(`The DynamoDB endpoint ${endpoint} cannot be used: ${message || code || name}`);
