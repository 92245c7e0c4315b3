import { isDeepStrictEqual } from "node:util";
import { beforeAll, expect, it } from "@jest/globals";
import * as z from "zod/mini";
import { PAGE_SIZE } from "../../lib/limits.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { recordCalls } from "../support/calls.ts";
import { exampleEvent } from "../support/event.ts";
import { exampleRequest } from "../support/example-request.ts";
import { addItem, addItems, callFunction } from "../support/items.ts";
import { createOwnTables } from "../support/own-tables.ts";

await createOwnTables();
const takeCalls = recordCalls();

type Texts = Record<string, string>;

/** Sends a query, and returns the calls of DynamoDB and the query of the link to the next page. */
async function send(operation: Operation, path: Texts, query: Texts) {
  takeCalls();
  const sent = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]]));
  const { headers } = await callFunction(operation.id, exampleEvent(operation, { path, query: sent }));
  const [, search = ""] = /\?([^>]*)>; rel="next"/.exec(String(headers?.Link)) ?? [];
  const calls = takeCalls().map(({ command, input }) => [command, input]);
  return { calls, next: Object.fromEntries(new URLSearchParams(search)) };
}

/** Expects that a parameter of a query changes the calls. */
async function expectUse(operation: Operation, path: Texts, name: string, query: Texts): Promise<void> {
  const { [name]: _, ...others } = query;
  const { calls } = await send(operation, path, query);
  const { calls: without } = await send(operation, path, others);
  expect({ name, query, isUsed: !isDeepStrictEqual(calls, without) }).toEqual({ name, query, isUsed: true });
}

/** What code can mistake for a parameter that is missing. */
const FALSY = ["", "0", "false"];
/** A page of one item. */
const limit = String(PAGE_SIZE.minimum);

const accepts = (schema: z.core.$ZodType | undefined, value: unknown) =>
  schema !== undefined && z.safeParse(schema, value).success;

const parameters = (operations as readonly Operation[]).flatMap((operation) => {
  const { cursor: _, ...examples } = exampleRequest(operation).query;
  if (examples.limit) examples.limit = limit;
  return Object.entries(examples).map(([name, value]) => ({ operation, name, value, examples }));
});

beforeAll(async () => {
  // Two items of each kind for a page of one. They have the values of the examples, so that every filter finds them.
  for (const { method, path } of [...operations, ...operations])
    if (method === "POST") await addItem(path, await addItems(path));
});

it.each(parameters)(
  "$operation.id reads what $name asks for, also beside each other parameter",
  async ({ operation, name, value, examples }) => {
    const path = await addItems(operation.path);
    const schema = Object(operation.query?.shape)[name];
    const values = [value, ...FALSY.filter((text) => accepts(schema, text))];
    for (const other of Object.entries(examples))
      for (const text of values) {
        const query = { limit, ...Object.fromEntries([other]), [name]: text };
        if (accepts(operation.query, query)) await expectUse(operation, path, name, query);
      }
  },
);

it.each(parameters.filter(({ operation }) => operation.success.headers?.Link))(
  "$operation.id links to the next page that $name asks for",
  async ({ operation, name, value }) => {
    const path = await addItems(operation.path);
    const query = { limit, [name]: value };
    const { next } = await send(operation, path, query);
    expect(next).toEqual({ ...query, cursor: expect.any(String) });
    for (const one of [name, "cursor"]) await expectUse(operation, path, one, next);
  },
);
