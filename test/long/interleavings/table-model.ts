import { isDeepStrictEqual } from "node:util";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { GetCommand, PutCommand, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { holds, type Item, stored, unsupported } from "./expressions.ts";

interface Input {
  TableName?: string | undefined;
  Key?: Item | undefined;
  Item?: Item | undefined;
  ConsistentRead?: boolean | undefined;
  ConditionExpression?: string | undefined;
  KeyConditionExpression?: string | undefined;
  UpdateExpression?: string | undefined;
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Item | undefined;
  IndexName?: string | undefined;
  Limit?: number | undefined;
}

const INPUTS = {
  GetCommand: ["TableName", "Key", "ConsistentRead"],
  PutCommand: ["TableName", "Item", "ConditionExpression"],
  UpdateCommand: ["TableName", "Key", "UpdateExpression", "ConditionExpression"],
  QueryCommand: ["TableName", "IndexName", "KeyConditionExpression", "Limit"],
};
const EXPRESSION_INPUTS = ["ExpressionAttributeNames", "ExpressionAttributeValues"];

/** One table in memory, with the index on `statusShard` and `id`. */
export class TableModel {
  readonly items = new Map<unknown, Item>();
  readonly #key: string;
  readonly #previous = new Map<unknown, Item | undefined>();
  /** the entries of the index */
  readonly index = new Map<string, Item>();
  /** items that a write replaced with different ones */
  readonly replaced: { before: Item; after: Item }[] = [];
  /** Copies changes to the index. The test decides when and in which order, because DynamoDB promises neither. */
  readonly indexUpdates: (() => void)[] = [];

  /** @param key name of the partition key */
  constructor(key: string) {
    this.#key = key;
  }

  delete(key: unknown): void {
    this.#write(key);
  }

  /**
   * Executes a command of the document client, atomically.
   *
   * @param options.stale decides whether a read without ConsistentRead returns the version before the last one
   * @throws ConditionalCheckFailedException, or Error for a command that the stores do not send
   */
  execute(
    command: unknown,
    { stale }: { stale: () => boolean } = { stale: () => false },
  ): { Item?: Item | undefined; Items?: Item[] } {
    const { name } = (command as object).constructor;
    const supported: string[] = INPUTS[name as keyof typeof INPUTS] ?? [];
    const input = (command as { input: Input }).input;
    for (const member of Object.keys(input)) {
      if (![...supported, ...EXPRESSION_INPUTS].includes(member)) throw unsupported([name, member]);
    }
    if (command instanceof GetCommand) return { Item: this.#get(input, stale) };
    if (command instanceof PutCommand) return this.#put(input);
    if (command instanceof UpdateCommand) return this.#update(input);
    if (command instanceof QueryCommand) return { Items: this.#query(input) };
    throw unsupported(name);
  }

  #get({ Key = {}, ConsistentRead }: Input, stale: () => boolean): Item | undefined {
    const key = Key[this.#key];
    return !ConsistentRead && stale() ? this.#previous.get(key) : this.items.get(key);
  }

  #put(input: Input) {
    const item = stored(input.Item ?? {});
    const key = item[this.#key];
    this.#check(input, key);
    this.#write(key, item);
    return {};
  }

  #update(input: Input) {
    const key = input.Key?.[this.#key];
    this.#check(input, key);
    const [, attribute = "", value = ""] = /^SET (\w+) = (:\w+)$/.exec(input.UpdateExpression ?? "") ?? [];
    if (!attribute) throw unsupported(input.UpdateExpression);
    const change = { [attribute]: input.ExpressionAttributeValues?.[value] };
    this.#write(key, stored({ ...this.items.get(key), ...input.Key, ...change }));
    return {};
  }

  #query({
    KeyConditionExpression,
    ExpressionAttributeNames,
    ExpressionAttributeValues,
    Limit,
  }: Input): Item[] {
    return [...this.index.values()]
      .filter((item) =>
        holds(
          KeyConditionExpression ?? "",
          item,
          ExpressionAttributeNames ?? {},
          ExpressionAttributeValues ?? {},
        ),
      )
      .sort((a, b) => Number((a.id as bigint) - (b.id as bigint)))
      .slice(0, Limit);
  }

  #check(input: Input, key: unknown): void {
    const { ConditionExpression, ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = input;
    if (ConditionExpression === undefined) return;
    if (
      !holds(ConditionExpression, this.items.get(key), ExpressionAttributeNames, ExpressionAttributeValues)
    ) {
      throw new ConditionalCheckFailedException({ message: "The conditional request failed", $metadata: {} });
    }
  }

  #write(key: unknown, item?: Item): void {
    const before = this.items.get(key);
    this.#previous.set(key, before);
    if (before && item && !isDeepStrictEqual(before, item)) this.replaced.push({ before, after: item });
    if (item) this.items.set(key, item);
    else this.items.delete(key);
    // DynamoDB removes the entry of one index partition and adds that of another independently.
    for (const shard of new Set([before?.statusShard, item?.statusShard])) {
      if (shard !== undefined) this.indexUpdates.push(() => this.#copyToIndex(shard, key));
    }
  }

  #copyToIndex(shard: unknown, id: unknown): void {
    const item = this.items.get(id);
    if (item && item.statusShard === shard) this.index.set(`${shard} ${id}`, item);
    else this.index.delete(`${shard} ${id}`);
  }
}
