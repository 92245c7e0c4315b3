import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";

export type Item = Record<string, unknown>;

/** Decides what DynamoDB leaves open: returns an integer from 0 to count - 1. */
export type Choose = (count: number) => number;

/** Returns random choices, the same ones for the same seed. */
export function randomChoices(seed: number): Choose {
  const numbers = fc.infiniteStream(fc.nat(), { noHistory: true });
  const [stream] = fc.sample(numbers, { seed, numRuns: 1, unbiased: true });
  return (count) => (stream?.next().value ?? 0) % count;
}

/** What the stores use of the commands' inputs. */
const INPUT = {
  TableName: "",
  Key: {} as Item,
  Item: {} as Item,
  ConsistentRead: true,
  ConditionExpression: "",
  ReturnValuesOnConditionCheckFailure: "",
  UpdateExpression: "",
  IndexName: "",
  KeyConditionExpression: "",
  Limit: 0,
  ExpressionAttributeNames: {} as Item,
  ExpressionAttributeValues: {} as Item,
};
export type Input = typeof INPUT;

/** A command of the document client. */
export interface Command {
  constructor: { name: string };
  input: Partial<Input>;
}

/** Names a command and its table, such as `Put claims`. */
export const nameOf = (command: Command) =>
  `${command.constructor.name.replace("Command", "")} ${command.input.TableName}`;

const unsupported = (what: string) => new Error(`The model does not support ${what}.`);

const mapValues = <T>(item: Item, change: (value: unknown) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, change(value)]));

/** The document client returns every number as a bigint (lib/dynamo/pet-store.ts). */
const stored = (item: Item): Item =>
  mapValues(item, (value) => (typeof value === "number" ? BigInt(value) : value));

/** The document client leaves an item in an error in DynamoDB's own format. */
const marshalled = (item: Item) =>
  mapValues(item, (value) => (typeof value === "bigint" ? { N: String(value) } : { S: String(value) }));

/** Evaluates the part of DynamoDB's expression language that the stores use. */
function holds(expression: string, item: Item | undefined, input: Input): boolean {
  if (/(^| )\(/.test(expression)) throw unsupported(`parentheses: ${expression}`);
  const values = stored(input.ExpressionAttributeValues);
  const attribute = (name = "") => item?.[String(input.ExpressionAttributeNames[name] ?? name)];
  const termHolds = (term: string) => {
    const [, exists, name] = /^attribute_(exists|not_exists)\(([\w#]+)\)$/.exec(term) ?? [];
    if (exists) return (attribute(name) !== undefined) === (exists === "exists");
    const [, path, operator = "", placeholder = ""] = /^([\w#]+) (=|[<>]=?) (:\w+)$/.exec(term) ?? [];
    const [left, right] = [attribute(path), values[placeholder]] as [bigint, bigint];
    if (right === undefined) throw unsupported(term);
    // An attribute that is missing or has another type is neither equal nor less nor greater.
    return typeof left === typeof right && operator.includes(left < right ? "<" : left > right ? ">" : "=");
  };
  return expression.split(" OR ").some((all) => all.split(" AND ").every(termHolds));
}

/** One table in memory, with the index on `statusShard` and `id`. */
export class TableModel {
  readonly items = new Map<unknown, Item>();
  /** the entries of the index, as each of its replicas has them */
  readonly replicas: readonly Map<string, Item>[];
  /** Copies changes to the index. The test decides when and in which order, because DynamoDB promises neither. */
  readonly indexUpdates = new Set<() => void>();
  readonly #key: string;

  /**
   * @param key name of the partition key
   * @param replicas how many replicas of the index respond to queries, each with a delay of its own
   */
  constructor(key: string, replicas = 1) {
    this.#key = key;
    this.replicas = Array.from({ length: replicas }, () => new Map());
  }

  /**
   * Executes a command atomically.
   *
   * @param choose selects the replica that responds to a query
   * @throws ConditionalCheckFailedException, or Error for a command that the stores do not send
   */
  execute(command: Command, choose: Choose = () => 0): { Item?: Item | undefined; Items?: Item[] } {
    const unknown = Object.keys(command.input).find((name) => !(name in INPUT));
    if (unknown) throw unsupported(unknown);
    const input: Input = { ...INPUT, ...command.input };
    const key = { ...input.Key, ...input.Item }[this.#key];
    const item = this.items.get(key);
    switch (command.constructor.name) {
      case "GetCommand":
        return { Item: item };
      case "QueryCommand":
        return { Items: this.#query(input, this.replicas[choose(this.replicas.length)]) };
      case "PutCommand":
      case "UpdateCommand":
        if (input.ConditionExpression && !holds(input.ConditionExpression, item, input)) {
          const Item = input.ReturnValuesOnConditionCheckFailure && item ? marshalled(item) : undefined;
          throw new ConditionalCheckFailedException({ message: "", $metadata: {}, ...(Item && { Item }) });
        }
        this.write(key, stored(input.UpdateExpression ? this.#updated(item, input) : input.Item));
        return {};
      default:
        throw unsupported(command.constructor.name);
    }
  }

  /** Replaces an item, or deletes it. */
  write(key: unknown, item?: Item): void {
    const before = this.items.get(key);
    if (item) this.items.set(key, item);
    else this.items.delete(key);
    // DynamoDB removes the entry of one index partition and adds that of another independently.
    for (const shard of new Set([before?.statusShard, item?.statusShard])) {
      if (shard === undefined) continue;
      for (const replica of this.replicas)
        this.indexUpdates.add(() => this.#copyToIndex(replica, shard, key));
    }
  }

  /** Makes every change visible in the index. */
  updateIndex(): void {
    for (const update of this.indexUpdates) update();
    this.indexUpdates.clear();
  }

  #updated(item: Item | undefined, input: Input): Item {
    const updated: Item = { ...item, ...input.Key };
    for (const assignment of input.UpdateExpression.replace(/^SET /, "").split(", ")) {
      const [, name = "", value = ""] = /^([\w#]+) = (:\w+)$/.exec(assignment) ?? [];
      if (!name) throw unsupported(input.UpdateExpression);
      updated[String(input.ExpressionAttributeNames[name] ?? name)] = input.ExpressionAttributeValues[value];
    }
    return updated;
  }

  #query(input: Input, replica = new Map<string, Item>()): Item[] {
    return [...replica.values()]
      .filter((item) => holds(input.KeyConditionExpression, item, input))
      .sort((a, b) => Number((a.id as bigint) - (b.id as bigint)))
      .slice(0, input.Limit);
  }

  #copyToIndex(replica: Map<string, Item>, shard: unknown, id: unknown): void {
    const item = this.items.get(id);
    if (item && item.statusShard === shard) replica.set(`${shard} ${id}`, item);
    else replica.delete(`${shard} ${id}`);
  }
}
