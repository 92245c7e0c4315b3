import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** For a server that can be of any kind, and slow. */
const TIMEOUTS = { connectionTimeout: 2000, requestTimeout: 5000, throwOnRequestTimeout: true };

/**
 * Creates those of a template's tables that are missing.
 *
 * @param endpoint a DynamoDB-compatible server
 * @throws Error in one line when it does not respond
 */
export async function createTables(endpoint: string, tables: CreateTableCommandInput[]): Promise<void> {
  const client = new DynamoDBClient({ endpoint, maxAttempts: 2, requestHandler: TIMEOUTS });
  for (const table of tables) {
    try {
      await client.send(new CreateTableCommand(table));
    } catch (error) {
      const { name, message, code } = error as NodeJS.ErrnoException;
      if (name === "ResourceInUseException") continue;
      throw new Error(`The DynamoDB endpoint ${endpoint} cannot be used: ${message || code || name}`);
    }
  }
  client.destroy();
}
