import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { encodeCursor } from "../../../lib/cursor.ts";
import { stringifyJson } from "../../../lib/http/json.ts";
import type { NewPet, Pet } from "../../../lib/pet.ts";
import type { Key, Model, Walk } from "./model.ts";
import { call, type TestedService } from "./service.ts";

/** Selects an element by a number of any size, because the length of the list is determined only when a command runs. */
export const at = <T>(elements: readonly T[], n: number) => elements[n % elements.length] as T;

/** Checks the status of a response. */
function accept(key: Key, status: number, allowed: number[]): void {
  assert.ok(allowed.includes(status), `${status} is not one of ${allowed}`);
  if (status !== 401) key.used = true;
}

/** Adds a pet, repeats the request, and waits until the list shows the pet (contract 3.8 and 4.8). */
export async function add(
  model: Model,
  service: TestedService,
  pet: Partial<NewPet>,
  key: Key,
): Promise<void> {
  const request = { secret: key.secret, body: stringifyJson(pet), idempotencyKey: randomUUID() };
  const first = await call(service, "/pets", request);
  accept(key, first.status, model.statuses(key, "pets:write", 201));
  if (first.status !== 201) return;
  const again = await call(service, "/pets", request);
  if (again.status !== 401) assert.deepEqual(again, first);
  const added = first.body as Pet;
  assert.deepEqual(added, { status: "available", ...pet, id: added.id });
  model.pets.push(added);
  const path = `/pets?limit=1&cursor=${encodeCursor(added.id - 1n)}`;
  let listed: unknown;
  do listed = (await call(service, path, { secret: at(model.keys, 0).secret })).body;
  while (stringifyJson(listed) !== stringifyJson([added]));
}

export async function get(
  model: Model,
  service: TestedService,
  pet: Pet | undefined,
  key: Key,
): Promise<void> {
  const { status, body } = await call(service, `/pets/${pet?.id ?? 7}`, { secret: key.secret });
  accept(key, status, model.statuses(key, "pets:read", pet ? 200 : 404));
  if (status === 200) assert.deepEqual(body, pet);
}

/** Gets the next page of a walk, and checks what every page must fulfil (contract 3). */
export async function follow(model: Model, service: TestedService, walk: Walk, key: Key): Promise<void> {
  const { status, body, next } = await call(service, walk.next ?? "", { secret: key.secret });
  accept(key, status, model.statuses(key, "pets:read", 200));
  if (status !== 200) return;
  const page = body as Pet[];
  assert.ok(next ? page.length === walk.limit : page.length <= walk.limit);
  if (walk.found.length > 0) assert.ok(page.length > 0); // contract 3.4: a link means that more pets follow
  assert.ok(page.every((pet) => walk.status === undefined || pet.status === walk.status));
  walk.found.push(...page);
  walk.next = next;
  assert.ok(walk.found.every(({ id }, n) => n === 0 || id > at(walk.found, n - 1).id));
  const expected = new Set(walk.expected.map(({ id }) => id));
  if (!next)
    assert.deepEqual(
      walk.found.filter(({ id }) => expected.has(id)),
      walk.expected,
    );
}

/** Follows every walk to its end, in large pages. */
export async function finishWalks(model: Model, service: TestedService): Promise<void> {
  for (const walk of model.walks) {
    walk.limit = 100;
    walk.next = walk.next?.replace(/limit=\d+/, "limit=100");
    while (walk.next) await follow(model, service, walk, at(model.keys, 0));
  }
}
