import { isDeepStrictEqual } from "node:util";
import { expect, it } from "@jest/globals";
import * as z from "zod/mini";
import { entryName } from "../../infra/names.ts";
import { exampleRequest } from "../../lib/example-values.ts";
import { PAGE_SIZE } from "../../lib/limits.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { recordCalls } from "../support/calls.ts";
import { context, exampleEvent } from "../support/event.ts";
import { createOwnTables } from "../support/own-tables.ts";

await createOwnTables();
const takeCalls = recordCalls();
const start = async ({ id }: Operation) => {
  const { handler, ready } = await import(`../../functions/${entryName(id)}.ts`);
  await ready;
  return handler;
};

/** Sends a query, and returns the calls of DynamoDB and the query of the link to the next page. */
async function send(operation: Operation, query: Record<string, string>) {
  const handler = await start(operation);
  takeCalls();
  const sent = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]]));
  const { headers } = await handler(exampleEvent(operation, "1", { query: sent }), context);
  const [, search = ""] = /\?([^>]*)>; rel="next"/.exec(headers.Link ?? "") ?? [];
  const calls = takeCalls().map(({ command, input }) => [command, input]);
  return { calls, next: Object.fromEntries(new URLSearchParams(search)) };
}

/** Expects that a parameter of a query changes the calls. */
async function expectUse(operation: Operation, name: string, query: Record<string, string>): Promise<void> {
  const { [name]: _, ...others } = query;
  const [{ calls }, { calls: without }] = [await send(operation, query), await send(operation, others)];
  expect({ name, query, isUsed: !isDeepStrictEqual(calls, without) }).toEqual({ name, query, isUsed: true });
}

/** What code can mistake for a parameter that is missing. */
const FALSY = ["", "0", "false"];

const creations = operations.filter(({ method }) => method === "POST");
const parameters = (operations as readonly Operation[]).flatMap((operation) =>
  Object.entries(exampleRequest(operation).query).map(([name, value]) => ({ operation, name, value })),
);
it.each(parameters.filter(({ name }) => name !== "cursor"))(
  "$operation.id reads the page that $name asks for, and links to the next one with it",
  async ({ operation, name, value }) => {
    // Two items of each kind for a page of one. They have the values of the examples, so that every filter finds them.
    for (const creation of [...creations, ...creations])
      await (await start(creation))(exampleEvent(creation, ""), context);
    const query = { [name]: value, limit: String(PAGE_SIZE.minimum) };
    const shape: Record<string, z.core.$ZodType> = { ...operation.query?.shape };
    const falsy = FALSY.filter((text) => shape[name] && z.safeParse(shape[name], text).success);
    await expectUse(operation, name, query);
    for (const text of falsy) await expectUse(operation, name, { ...query, [name]: text });
    if (!operation.success.headers?.Link) return; // it has no pages
    const { next } = await send(operation, query);
    expect(next).toEqual({ ...query, cursor: expect.any(String) });
    for (const one of [name, "cursor"]) await expectUse(operation, one, next);
  },
);
