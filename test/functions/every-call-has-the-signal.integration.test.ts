import { expect, it } from "@jest/globals";
import { entryName } from "../../infra/names.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { recordCalls } from "../support/calls.ts";
import { context, exampleEvents } from "../support/event.ts";
import { addItems } from "../support/items.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { COLLIDING_KEYS } from "../support/pets.ts";

// Lambda freezes what a function leaves behind, and can continue a write hours later. So each call is cancelled when the
// function gives up and responds.

await createOwnTables();

const takeCalls = recordCalls();

/** The signals of all controllers. The middleware makes the first one of an invocation. */
const signals: AbortSignal[] = [];
globalThis.AbortController = class extends AbortController {
  constructor() {
    super();
    signals.push(this.signal);
  }
};

it.each<Operation>(operations)("every call of $id gets the signal of the function", async (operation) => {
  const { handler, ready } = await import(`../../functions/${entryName(operation.id)}.ts`);
  await ready;
  // A request, one whose id is taken, its retry, and one without its item.
  const [first, second] = COLLIDING_KEYS;
  for (const key of [first, second, second, "without"]) {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    for (const { eventFor } of exampleEvents(operation)) {
      const path = key === "without" ? {} : { path: await addItems(operation.path) };
      takeCalls();
      signals.length = 0;
      await handler(eventFor({ ...path, headers }), context);
      const calls = takeCalls();
      expect(calls).not.toEqual([]);
      const others = calls.filter(({ signal }) => signal !== signals[0]);
      expect(others.map(({ command }) => command)).toEqual([]);
    }
  }
});
