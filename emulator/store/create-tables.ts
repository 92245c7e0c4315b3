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

const clientOf = (store: StoreAddress) =>
  new DynamoDBClient({ ...clientConfig(store), maxAttempts: 2, requestHandler: TIMEOUTS });

/**
 * Creates those of a template's tables that are missing, and waits until all are ACTIVE.
 *
 * @param store a DynamoDB-compatible server
 * @throws Error in one line when it fails, or when a table exists without an index of the template
 */
export async function createTables(store: StoreAddress, tables: CreateTableCommandInput[]): Promise<void> {
  for (const table of tables) {
    const { TableName = "", GlobalSecondaryIndexes = [] } = table;
    await clientOf(store)
      .send(new CreateTableCommand(table))
      .catch((error) => {
        if (error.name !== "ResourceInUseException") throw unusable(store, error);
      });
    let existing = await describeTable(store, TableName);
    for (; existing.TableStatus !== "ACTIVE"; existing = await describeTable(store, TableName))
      await pause(100);
    const names = existing.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName) ?? [];
    const absent = GlobalSecondaryIndexes.find(({ IndexName }) => !names.includes(IndexName))?.IndexName;
    if (absent)
      throw new Error(`The table ${TableName} has no index ${absent}: delete the table, or its data folder.`);
  }
}

/** @throws Error in one line when the endpoint does not have the table, or does not respond before `abortSignal` */
export async function describeTable(store: StoreAddress, name: string, abortSignal?: AbortSignal) {
  const command = new DescribeTableCommand({ TableName: name });
  const { Table } = await clientOf(store)
    .send(command, { abortSignal })
    .catch((error) => {
      throw unusable(store, error);
    });
  // Another program can listen there, and any JSON passes for the response of a write.
  if (Table?.TableName !== name) throw unusable(store, new Error(`it does not describe the table ${name}`));
  return Table;
}

const unusable = ({ endpoint }: StoreAddress, { name, message, code }: NodeJS.ErrnoException) =>
  new Error(`The DynamoDB endpoint ${endpoint} cannot be used: ${message || code || name}`);
