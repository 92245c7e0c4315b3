import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { entryName } from "../../infra/names.ts";
import { parseJson } from "../../lib/http/json.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { context, exampleEvent } from "./event.ts";

type Call = (id: string, event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

/** Calls the function of an operation when it has started. */
export const callFunction: Call = async (id, event) => {
  const { handler, ready } = await import(`../../functions/${entryName(id)}.ts`);
  await ready;
  return handler(event, context);
};

/**
 * Adds an item with the POST of a path, from its example.
 *
 * @param ids of the parameters of the path
 * @returns the item in the response
 */
async function addItem(
  path: string,
  ids: Record<string, string>,
  call: Call,
): Promise<Record<string, unknown>> {
  const creation = (operations as readonly Operation[]).find(
    (operation) => operation.method === "POST" && operation.path === path,
  );
  if (!creation) throw new Error(`The tests need items of ${path}, which no POST adds.`);
  const { statusCode, body } = await call(creation.id, exampleEvent(creation, { path: ids }));
  if (statusCode !== 201) throw new Error(`${creation.id} returned ${statusCode}: ${body}`);
  return Object(parseJson(body));
}

/** Adds the item that each parameter of a path names. @returns their ids, by the names of the parameters */
export async function addItems(path: string, call = callFunction): Promise<Record<string, string>> {
  const [, parent, name] = /^(.*)\/\{(\w+)\}/.exec(path) ?? [];
  if (parent === undefined || name === undefined) return {};
  const ids = await addItems(parent, call);
  return { ...ids, [name]: String((await addItem(parent, ids, call)).id) };
}
