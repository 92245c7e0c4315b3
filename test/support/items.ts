import { expect } from "@jest/globals";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { entryName } from "../../infra/names.ts";
import { parseJson } from "../../lib/http/json.ts";
import { PAGE_SIZE } from "../../lib/limits.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { context, exampleEvent } from "./event.ts";
import { exampleRequest } from "./example-request.ts";

type Call = (id: string, event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

/** Calls the function of an operation when it has started. */
export const callFunction: Call = async (id, event) => {
  const { handler, ready } = await import(`../../functions/${entryName(id)}.ts`);
  await ready;
  return handler(event, context);
};

/** Calls the function of an operation. @returns the body of its success @throws Error with any other response */
async function succeed({ id, success }: Operation, event: APIGatewayProxyEvent, call: Call): Promise<string> {
  const { statusCode, body } = await call(id, event);
  if (statusCode !== success.status) throw new Error(`${id} returned ${statusCode}: ${body}`);
  return body;
}

const all = operations as readonly Operation[];
const LAST_PARAMETER = /\/\{(\w+)\}$/;
const creationIn = (path: string) =>
  all.find((operation) => operation.method === "POST" && operation.path === path);

/** Returns whether an operation is a PUT that adds items: the parent of its path has no POST. */
export const isCreatingPut = ({ method, path }: Operation): boolean =>
  method === "PUT" && !creationIn(path.replace(LAST_PARAMETER, ""));

/** How many items a PUT has added: each gets an id of its own. */
let added = 0;

/**
 * Adds an item with the POST of a path, or the PUT of an item below it, from its example.
 *
 * @param ids of the parameters of the path
 * @returns the id of the item
 */
export async function addItem(path: string, ids: Record<string, string>, call = callFunction) {
  const put = all.find((one) => isCreatingPut(one) && one.path.replace(LAST_PARAMETER, "") === path);
  const creation = creationIn(path) ?? put;
  if (!creation) throw new Error(`The tests need items of ${path}, which no POST or PUT adds.`);
  const [, name = ""] = LAST_PARAMETER.exec(creation.path) ?? [];
  const { [name]: example = "" } = exampleRequest(creation).params;
  const own = added === 0 ? example : example.slice(0, -String(added).length) + added;
  if (name) added++;
  const body = await succeed(creation, exampleEvent(creation, { path: { ...ids, [name]: own } }), call);
  return name ? own : String(Object(parseJson(body)).id);
}

/** Adds the item that each parameter of a path names. @returns their ids, by the names of the parameters */
export async function addItems(path: string, call = callFunction): Promise<Record<string, string>> {
  const [, parent, name] = /^(.*)\/\{(\w+)\}/.exec(path) ?? [];
  // The examples of bodies can name the examples of these items.
  if (parent === undefined || name === undefined) {
    for (const put of all.filter(isCreatingPut)) await succeed(put, exampleEvent(put), call);
    return {};
  }
  const ids = await addItems(parent, call);
  return { ...ids, [name]: await addItem(parent, ids, call) };
}

type Item = Record<string, unknown>;

/**
 * Follows the links of a list to its end. Each must have every parameter of the first request, and lead to another page.
 *
 * @param path the parameters of its path
 * @param item whose values its filters have
 * @param optional names of the optional filters to send
 */
export async function listItems(
  list: Operation,
  path: Record<string, string>,
  item: Item,
  optional: string[] = [],
  limit: number = PAGE_SIZE.maximum,
): Promise<Item[]> {
  const example = exampleEvent(list, { path }, optional).multiValueQueryStringParameters ?? {};
  const first: Record<string, string[]> = { limit: [String(limit)] };
  for (const [name, value = []] of Object.entries(example))
    if (name !== "cursor") first[name] ??= name in item ? [String(item[name])] : value;
  const found: Item[] = [];
  const links = new Set<string>();
  for (let query = first; ; ) {
    const { statusCode, body, headers } = await callFunction(list.id, exampleEvent(list, { path, query }));
    if (statusCode !== 200) throw new Error(`${list.id} returned ${statusCode}: ${body}`);
    const items = parseJson(body) as Item[];
    if (items.length > limit) throw new Error(`${list.id} ignores its limit.`);
    found.push(...items);
    const [, link] = /<([^>]*)>; rel="next"/.exec(String(headers?.Link ?? "")) ?? [];
    if (!link) return found;
    query = Object.fromEntries([...new URL(link).searchParams].map(([name, value]) => [name, [value]]));
    expect({ link, query }).toEqual({
      link: expect.not.stringContaining("{"),
      query: { ...first, cursor: [expect.any(String)] },
    });
    if (links.has(link)) throw new Error(`${list.id} returned the link ${link} twice.`);
    links.add(link);
  }
}
