import { afterAll, expect, it } from "@jest/globals";
import { petRemover } from "../../lib/dynamo/pet-store.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { exampleEvent } from "../support/event.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { addItems, callFunction, isCreatingPut } from "../support/items.ts";
import { createOwnTables } from "../support/own-tables.ts";

const { PETS_TABLE } = await createOwnTables();
const proxy = await startFaultProxy(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "");
process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.endpoint;
afterAll(proxy.close);

type Ids = Record<string, string>;
const statusOf = async (operation: Operation, path: Ids) =>
  (await callFunction(operation.id, exampleEvent(operation, { path }))).statusCode;

/** Deletes the item of a path, and returns whether there was one: what operators run, and each DELETE. */
const removals = new Map([
  ["/pets/{petId}", ({ petId = "" }: Ids) => petRemover(PETS_TABLE).remove(BigInt(petId))],
]);
for (const operation of operations as readonly Operation[])
  if (operation.method === "DELETE")
    removals.set(operation.path, async (ids) => (await statusOf(operation, ids)) !== 404);

it.each([...removals])(
  "after a deletion whose response was lost, every operation of %s is a 404",
  async (path, remove) => {
    const ids = await addItems(path);
    await proxy.set("lost", ({ attempt }) => attempt === 1);
    expect([await remove(ids), await remove(ids)]).toEqual([true, false]);
    const found: Record<string, number> = {};
    for (const operation of operations)
      if (operation.path === path && !isCreatingPut(operation))
        found[operation.id] = await statusOf(operation, ids);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((id) => [id, 404])));
  },
);
