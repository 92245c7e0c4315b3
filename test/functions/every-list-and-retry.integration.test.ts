import { randomUUID } from "node:crypto";
import { expect, it } from "@jest/globals";
import { parseJson, stringifyJson } from "../../lib/http/json.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { exampleEvent, exampleEvents } from "../support/event.ts";
import { addItem, addItems, callFunction, listItems } from "../support/items.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { bodySamples } from "../support/samples.ts";

await createOwnTables();
const all = operations as readonly Operation[];

it.each(all.filter(({ headers }) => headers && "Idempotency-Key" in headers.shape))(
  "$id returns the first response to a retry, and 422 with another value of a member",
  async (operation) => {
    const example = exampleEvent(operation, { path: await addItems(operation.path) });
    const send = async (key: string, members: object) => {
      const headers = { ...example.multiValueHeaders, "Idempotency-Key": [key] };
      const event = { ...example, multiValueHeaders: headers, body: stringifyJson(members) };
      return await callFunction(operation.id, event);
    };
    const sent = parseJson(example.body ?? "") as Record<string, unknown>;
    const key = randomUUID();
    const first = await send(key, sent);
    expect(await send(key, Object.fromEntries(Object.entries(sent).toReversed()))).toEqual(first);
    const wrong: object[] = [];
    for (const [name, values] of bodySamples(operation))
      for (const value of values.filter((one) => stringifyJson(one) !== stringifyJson(sent[name]))) {
        const { statusCode: alone } = await send(randomUUID(), { ...sent, [name]: value });
        const { statusCode } = await send(key, { ...sent, [name]: value });
        const refused = alone === operation.success.status ? 422 : alone; // the rule that refuses it alone can come first
        if (statusCode !== 422 && statusCode !== refused) wrong.push({ name, value, statusCode });
      }
    expect(wrong).toEqual([]);
  },
);

const lists = all.filter(({ query }) => query && "cursor" in query.shape);
const cases = lists.flatMap((list) =>
  exampleEvents(list).map(({ what, optional }) => ({ id: list.id, what, list, optional })),
);
it.each(cases)(
  "$id with $what: each item once, and links with every parameter",
  async ({ list, optional }) => {
    const ids = await addItems(list.path);
    for (const _ of [1, 2, 3]) await addItem(list.path, ids);
    const [newest = {}] = (await listItems(list, ids, {})).slice(-1);
    const together = await listItems(list, ids, newest, optional);
    expect(together.length).toBeGreaterThan(2);
    expect(await listItems(list, ids, newest, optional, 1)).toEqual(together);
  },
);
