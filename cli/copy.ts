import {
  type AttributeValue,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
} from "@aws-sdk/client-dynamodb";
import { Command } from "commander";
import { apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { conditionFailure } from "../lib/dynamo/client.ts";
import { AWS_CLIENT_OPTIONS } from "./aws-client-options.ts";
import { escapeControls } from "./escape-controls.ts";
import { configureProgram, print, runProgram } from "./run-program.ts";

/** `npx node cli/copy.ts <from> <to> [ids]`: copies items of a restored table back. */

type Item = Record<string, AttributeValue>;

/** What ends a key. A restored key keeps the end that it got since. */
const KEY_ENDS = ["revokeAt", "revoked", "successor", "deleteAt"];

const client = new DynamoDBClient(AWS_CLIENT_OPTIONS);
/** Of many writes at once, the table throttles some: they need more attempts. */
const writer = new DynamoDBClient({ ...AWS_CLIENT_OPTIONS, maxAttempts: 10 });

/** Returns the name and the type of a table's key. The name also tells what kind of item the table has. */
async function partitionKey(TableName: string) {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const name = Table?.KeySchema?.[0]?.AttributeName ?? "";
  const definition = Table?.AttributeDefinitions?.find(({ AttributeName }) => AttributeName === name);
  return { name, type: definition?.AttributeType ?? "S" };
}

/** Returns the condition that an item has these attributes, and lacks those that are undefined here. */
function conditionOn(attributes: Partial<Item>) {
  const names: Record<string, string> = {};
  const values: Item = {};
  const conditions = Object.entries(attributes).map(([name, value], n) => {
    names[`#${n}`] = name;
    if (!value) return `attribute_not_exists(#${n})`;
    values[`:${n}`] = value;
    return `#${n} = :${n}`;
  });
  return {
    ConditionExpression: conditions.join(" AND "),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: Object.keys(values).length > 0 ? values : undefined,
  };
}

/** Puts an item, if the existing one is as expected (conditionOn). @returns whether it did */
async function put(TableName: string, Item: Item, expected: Partial<Item>): Promise<boolean> {
  const command = new PutItemCommand({ TableName, Item, ...conditionOn(expected) });
  return !(await conditionFailure(writer.send(command)));
}

async function copyMissing(from: string, to: string, key: string): Promise<void> {
  let [read, copied] = [0, 0];
  for await (const { Items = [] } of paginateScan({ client, pageSize: 50 }, { TableName: from })) {
    const copyItem = async (item: Item) => {
      if (!(await put(to, item, { [key]: undefined }))) return;
      copied++;
      // At once, because nothing names these keys again if a later item fails.
      if (item.keyId?.S) await print(`${escapeControls(item.keyId.S)}: copied.`);
    };
    await Promise.all(Items.map(copyItem));
    read += Items.length;
  }
  await print(`${copied} of ${read} items were missing and are copied.`);
}

/** Copies an item, also over one that is damaged. @param id the value of its key */
async function copyOne(from: string, to: string, key: string, type: string, id: string): Promise<void> {
  const Key = { [key]: { [type]: id } as unknown as AttributeValue };
  const get = async (TableName: string) =>
    (await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item;
  const [item, current] = [await get(from), await get(to)];
  if (!item) throw new Error(`${from} has no ${id}.`);
  const ends = KEY_ENDS.flatMap((name) => (current?.[name] ? [[name, current[name]]] : []));
  const absent = Object.fromEntries([...Object.keys(item), ...KEY_ENDS].map((name) => [name, undefined]));
  const expected = current ? { ...absent, ...current } : { [key]: undefined };
  if (!(await put(to, { ...item, ...Object.fromEntries(ends) }, expected)))
    throw new Error(`${id} changed meanwhile. It was not copied.`);
  if (key === "keyId" && !(await apiKeyStore(to, AWS_CLIENT_OPTIONS).get(id)))
    throw new Error(`The record of the key ${id} is still damaged, so the key does not work: revoke it.`);
  await print(`${id}: ${current ? "replaced" : "copied"}.`);
}

/** The command, for tests in their own process. */
export const program = configureProgram(new Command("npx node cli/copy.ts"))
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
    for (const id of ids) await copyOne(from, to, name, type, id);
  });

if (import.meta.main) process.exitCode = await runProgram(program, "copy");
