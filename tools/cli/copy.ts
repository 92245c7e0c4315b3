import { DynamoDB, paginateScan } from "@aws-sdk/client-dynamodb";
import { Command } from "commander";
import { conditionFailure, type Item } from "../../lib/dynamo/client.ts";
import { awsClientOptions } from "./aws-client-options.ts";
import { configureProgram, runProgram } from "./run-program.ts";

/** `sh tools/node.sh tools/cli/copy.ts <from> <to>`: copies missing items from a restored table back. */

const program = configureProgram(new Command("sh tools/node.sh tools/cli/copy.ts"))
  .description("Copies to a table the items that it lacks, from another table such as a restored one.")
  .argument("<from>", "the table to read")
  .argument("<to>", "the table to write")
  .action(async (from: string, TableName: string) => {
    const client = new DynamoDB(awsClientOptions());
    /** DynamoDB throttles some of many writes at once, so each write has more attempts. */
    const writer = new DynamoDB(awsClientOptions(10));
    /** Returns the name of a table's key, which also tells what kind of item the table has. */
    const keyOf = async (TableName: string) =>
      (await client.describeTable({ TableName })).Table?.KeySchema?.[0]?.AttributeName ?? "";
    const key = await keyOf(from);
    if (key !== (await keyOf(TableName)))
      throw new Error(`${from} and ${TableName} have items of different kinds.`);
    let [read, copied] = [0, 0];
    const copyItem = async (Item: Item) => {
      const ExpressionAttributeNames = { "#key": key };
      const ConditionExpression = "attribute_not_exists(#key)";
      const put = writer.putItem({ TableName, Item, ConditionExpression, ExpressionAttributeNames });
      if (await conditionFailure(put)) return;
      copied++;
      // Now, because the next run does not name this key again if a later item fails.
      if (Item.keyId?.S) console.log(`${Item.keyId.S}: copied.`);
    };
    for await (const { Items = [] } of paginateScan({ client, pageSize: 50 }, { TableName: from })) {
      await Promise.all(Items.map(copyItem));
      read += Items.length;
    }
    console.log(`${copied} of ${read} items were missing and are copied.`);
  });

await runProgram(program, "copy");
