import { DynamoDB, paginateScan } from "@aws-sdk/client-dynamodb";
import { Command } from "commander";
import { conditionFailure, type Item } from "../lib/dynamo/client.ts";
import { AWS_CLIENT_OPTIONS } from "./aws-client-options.ts";
import { escapeControls } from "./escape-controls.ts";
import { configureProgram, print, runProgram, type World } from "./run-program.ts";

/** `sh local/node.sh cli/copy.ts <from> <to> [ids]`: copies items of a restored table back. */

/** The operators' command for restored tables. */
export function copyProgram(world: World): Command {
  const client = new DynamoDB(AWS_CLIENT_OPTIONS);
  /** Of many writes at once, the table throttles some: they need more attempts. */
  const writer = new DynamoDB({ ...AWS_CLIENT_OPTIONS, maxAttempts: 10 });

  /** Returns the name and the type of a table's key. The name also tells what kind of item the table has. */
  async function partitionKey(TableName: string) {
    const { Table } = await client.describeTable({ TableName });
    const name = Table?.KeySchema?.[0]?.AttributeName ?? "";
    const definition = Table?.AttributeDefinitions?.find(({ AttributeName }) => AttributeName === name);
    return { name, type: definition?.AttributeType ?? "S" };
  }

  /** Puts an item, unless the existing one has this attribute. @returns whether it did */
  async function putUnless(attribute: string, TableName: string, Item: Item): Promise<boolean> {
    const put = writer.putItem({
      TableName,
      Item,
      ConditionExpression: "attribute_not_exists(#name)",
      ExpressionAttributeNames: { "#name": attribute },
    });
    return !(await conditionFailure(put));
  }

  async function copyMissing(from: string, to: string, key: string): Promise<void> {
    let [read, copied] = [0, 0];
    for await (const { Items = [] } of paginateScan({ client, pageSize: 50 }, { TableName: from })) {
      const copyItem = async (item: Item) => {
        if (!(await putUnless(key, to, item))) return;
        copied++;
        // At once, because nothing names these keys again if a later item fails.
        if (item.keyId?.S) await print(world, `${escapeControls(item.keyId.S)}: copied.`);
      };
      await Promise.all(Items.map(copyItem));
      read += Items.length;
    }
    await print(world, `${copied} of ${read} items were missing and are copied.`);
  }

  /** Copies an item, also over one that is damaged. @param Key of the item, whose value is the id */
  async function copyOne(from: string, to: string, Key: Item, id: string): Promise<void> {
    const { Item } = await client.getItem({ TableName: from, Key, ConsistentRead: true });
    if (!Item) throw new Error(`${from} has no ${id}.`);
    // Only API keys have this attribute. One that was revoked or rotated since the backup must not work again.
    const copied = await putUnless("revokeAt", to, Item);
    await print(world, `${id}: ${copied ? "copied" : "not copied, because it was revoked or rotated"}.`);
  }

  return configureProgram(new Command("sh local/node.sh cli/copy.ts"), world)
    .description(
      "Copies to a table the items that it lacks, from another table such as a restored one. With ids, it copies only these, and replaces them if they exist.",
    )
    .argument("<from>", "the table to read")
    .argument("<to>", "the table to write")
    .argument("[ids...]", "ids of items, or key IDs such as key_94a9db21d2a2b24b")
    .action(async (from: string, to: string, ids: string[]) => {
      const [{ name, type }, other] = [await partitionKey(from), await partitionKey(to)];
      if (name !== other.name) throw new Error(`${from} and ${to} have items of different kinds.`);
      if (ids.length === 0) await copyMissing(from, to, name);
      for (const id of ids) await copyOne(from, to, { [name]: { [type]: id } } as unknown as Item, id);
    });
}

if (import.meta.main) process.exitCode = await runProgram(copyProgram(process), "copy", process);
