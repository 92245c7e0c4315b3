import { DynamoDB, paginateScan } from "@aws-sdk/client-dynamodb";
import { clientConfig } from "../emulator/store/aws-environment.ts";
import { readTables } from "./data-folder.ts";

/** `sh local/node.sh local/show-data.ts`: prints the items in the store of the local service, while it runs. */

try {
  const client = new DynamoDB({ ...clientConfig(await readTables(process.env)), maxAttempts: 1 });
  for (const TableName of (await client.listTables()).TableNames ?? [])
    for await (const { Items = [] } of paginateScan({ client }, { TableName }))
      for (const item of Items) console.log(TableName, JSON.stringify(item));
} catch (error) {
  console.error(`show-data: ${(error as Error).message || error}`);
  process.exitCode = 1;
}
