import { expect, it } from "@jest/globals";
import { parseJson, stringifyJson } from "../../lib/http/json.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { exampleEvent } from "../support/event.ts";
import { addItems, callFunction, listItems } from "../support/items.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { bodySamples } from "../support/samples.ts";

// Every member of a body takes the whole way, from the request to the table and the responses.

await createOwnTables();
const all = operations as readonly Operation[];
const gets = all.filter(({ method }) => method === "GET");

type Members = Record<string, unknown>;

const parentOf = (path: string) => path.replace(/\/\{\w+\}$/, "");
const listOf = ({ path }: Operation) => gets.find((one) => one.path === parentOf(path));

/** Reads the item of a response again: with the GET of its path, and in its list. */
async function readAgain(operation: Operation, ids: Record<string, string>, item: Members) {
  const parent = parentOf(operation.path);
  const get = gets.find((one) => one.path.endsWith("}") && parentOf(one.path) === parent);
  const list = listOf(operation);
  if (!get && !list) throw new Error(`No GET and no list return what ${operation.id} stores.`);
  const name = get?.path.slice(parent.length + 2, -1) ?? "";
  const event = get && exampleEvent(get, { path: { ...ids, [name]: ids[name] ?? String(item.id) } });
  const found = event ? parseJson((await callFunction(get.id, event)).body) : item;
  return [found, list ? (await listItems(list, ids, item)).find((one) => one.id === item.id) : item];
}

it.each(all.filter(({ body }) => body))("$id keeps or refuses every value of its body", async (operation) => {
  const accepted: unknown[] = [];
  for (const [name, values] of bodySamples(operation))
    for (const value of values) {
      const ids = await addItems(operation.path);
      const example = exampleEvent(operation, { path: ids });
      const members = parseJson(example.body ?? "") as Members;
      const sent = { ...example, body: stringifyJson({ ...members, [name]: value }) };
      const { statusCode, body } = await callFunction(operation.id, sent);
      const named = new RegExp(`"message":".*\\b${name}\\b[^;]* must `).test(body);
      if (statusCode === 400 && named) continue;
      const what = { name, value, statusCode, body };
      expect(what).toEqual({ ...what, statusCode: operation.success.status });
      const item = parseJson(body) as Members;
      const whole = { ...item, [name]: parseJson(stringifyJson(value)) };
      const answers = [item, ...(await readAgain(operation, ids, item).catch((error) => [error]))];
      expect({ name, value, answers }).toEqual({ name, value, answers: [whole, whole, whole] });
      if (stringifyJson(members[name]) === stringifyJson(value)) continue;
      accepted.push(value);
      const list = listOf(operation);
      if (!list?.query || !(name in list.query.shape)) continue;
      const others = await listItems(list, ids, members, [name]);
      if (others.some(({ id }) => id === item.id)) throw new Error(`${list.id} ignores its filter ${name}.`);
    }
  expect(accepted).not.toEqual([]);
});
