import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { timeouts } from "../../../lib/dynamo/client.ts";

/** In milliseconds, for any DynamoDB-compatible server, which can be slow. */
const TIMEOUT = 5000;
/** In seconds. */
const WAIT = { maxWaitTime: 60, minDelay: 0.1, maxDelay: 1 };

/**
 * Creates those of a template's tables that are missing in the store of this process, and waits until all are ACTIVE.
 *
 * @throws Error in one line when it fails, or when a table exists without an index of the template
 */
export async function createTables(tables: CreateTableCommandInput[]): Promise<void> {
  const client = new DynamoDBClient({ maxAttempts: 2, requestHandler: timeouts(TIMEOUT) });
  for (const table of tables) {
    const { TableName, GlobalSecondaryIndexes = [] } = table;
    await client.send(new CreateTableCommand(table)).catch(({ name, message, code }) => {
      if (name === "ResourceInUseException") return;
      const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
      throw new Error(`The DynamoDB endpoint ${endpoint} cannot be used: ${message || code || name}`);
    });
    const { reason } = await waitUntilTableExists({ client, ...WAIT }, { TableName });
    const existing: { IndexName?: string }[] = reason.Table.GlobalSecondaryIndexes ?? [];
    const names = existing.map(({ IndexName }) => IndexName);
    const absent = GlobalSecondaryIndexes.find(({ IndexName }) => !names.includes(IndexName))?.IndexName;
    if (absent)
      throw new Error(`The table ${TableName} has no index ${absent}: delete it, or set another DATA_DIR.`);
  }
}
