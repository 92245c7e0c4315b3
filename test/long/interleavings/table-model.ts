import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";

export type Item = Record<string, unknown>;

/** What the stores use of the commands' inputs. */
const INPUT = {
  TableName: "",
  Key: {} as Item,
  Item: {} as Item,
  ConditionExpression: "",
  UpdateExpression: "",
  ExpressionAttributeNames: {} as Item,
  ExpressionAttributeValues: {} as Item,
  ConsistentRead: true,
  ReturnValues: "",
  ReturnValuesOnConditionCheckFailure: "",
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

/** Evaluates the part of DynamoDB's condition expressions that the stores use. */
function holds(expression: string, item: Item | undefined, input: Input): boolean {
  const values = stored(input.ExpressionAttributeValues);
  const attribute = (name = "") => item?.[String(input.ExpressionAttributeNames[name] ?? name)];
  const termHolds = (term: string) => {
    const [, exists, name] = /^attribute_(exists|not_exists)\(([\w#]+)\)$/.exec(term) ?? [];
    if (exists) return (attribute(name) !== undefined) === (exists === "exists");
    const [, path, operator, placeholder = ""] = /^([\w#]+) (=|<=) (:\w+)$/.exec(term) ?? [];
    const [left, right] = [attribute(path), values[placeholder]] as [bigint, bigint];
    if (right === undefined) throw unsupported(term);
    // An attribute that is missing or has another type is neither equal nor less.
    return typeof left === typeof right && (operator === "=" ? left === right : left <= right);
  };
  return expression.split(" OR ").some((all) => all.split(" AND ").every(termHolds));
}

/** Executes the SET clause of an update expression. */
function updated(item: Item | undefined, input: Input): Item {
  const result: Item = { ...item, ...input.Key };
  for (const assignment of input.UpdateExpression.replace(/^SET /, "").split(", ")) {
    const [, name = "", value = ""] = /^([\w#]+) = (:\w+)$/.exec(assignment) ?? [];
    if (!name) throw unsupported(input.UpdateExpression);
    result[String(input.ExpressionAttributeNames[name] ?? name)] = input.ExpressionAttributeValues[value];
  }
  return result;
}

/** One table in memory, without its index. */
export class TableModel {
  readonly items = new Map<unknown, Item>();
  readonly #key: string;
  readonly #written: (item: Item, before: Item | undefined) => void;

  /**
   * @param key name of the partition key
   * @param written is called after each write
   */
  constructor(key: string, written: (item: Item, before: Item | undefined) => void = () => undefined) {
    this.#key = key;
    this.#written = written;
  }

  /**
   * Executes a command atomically.
   *
   * @throws ConditionalCheckFailedException, or Error for a command that the stores do not send
   */
  execute({ constructor: { name }, input: sent }: Command): { Item?: Item | undefined; Attributes?: Item } {
    const unknown = Object.keys(sent).find((option) => !(option in INPUT));
    if (unknown) throw unsupported(unknown);
    const input: Input = { ...INPUT, ...sent };
    const key = { ...input.Key, ...input.Item }[this.#key];
    const before = this.items.get(key);
    if (name === "GetCommand") return { Item: before };
    if (name !== "PutCommand" && name !== "UpdateCommand") throw unsupported(name);
    if (input.ConditionExpression && !holds(input.ConditionExpression, before, input)) {
      const Item = input.ReturnValuesOnConditionCheckFailure && before ? marshalled(before) : undefined;
      throw new ConditionalCheckFailedException({ message: "", $metadata: {}, ...(Item && { Item }) });
    }
    const item = stored(name === "UpdateCommand" ? updated(before, input) : input.Item);
    this.items.set(key, item);
    this.#written(item, before);
    return input.ReturnValues ? { Attributes: item } : {};
  }
}
