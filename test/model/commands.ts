import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { scopes } from "../../lib/api-key.ts";
import { encodeCursor } from "../../lib/cursor.ts";
import { stringifyJson } from "../../lib/http/json.ts";
import { INT64_MAX, INT64_MIN } from "../../lib/int64.ts";
import { type NewPet, type Pet, PetStatus } from "../../lib/pet.ts";
import type { Key, Model, Walk } from "./model.ts";
import { send, type TestedService } from "./service.ts";

type Command = fc.AsyncCommand<Model, TestedService>;

/** @param name shown when a run fails */
const command = (
  name: string,
  run: (model: Model, service: TestedService) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): Command => ({ run, check, toString: () => name });

/** Selects an element by a number of any size, because the length of the list is determined only when a command runs. */
const at = <T>(elements: readonly T[], n: number) => elements[n % elements.length] as T;

/** Checks the status of a response. */
function accept(key: Key, status: number, allowed: number[]): void {
  assert.ok(allowed.includes(status), `${status} is not one of ${allowed}`);
  if (status !== 401) key.used = true;
}

/** Adds a pet, repeats the request, and waits until the list shows the pet (contract 3.8 and 4.8). */
async function add(model: Model, service: TestedService, pet: Partial<NewPet>, key: Key): Promise<void> {
  const request = { secret: key.secret, body: stringifyJson(pet), idempotencyKey: randomUUID() };
  const first = await send(service, "/pets", request);
  accept(key, first.status, model.statuses(key, "pets:write", 201));
  if (first.status !== 201) return;
  const again = await send(service, "/pets", request);
  if (again.status !== 401) assert.deepEqual(again, first);
  const added = first.body as Pet;
  assert.deepEqual(added, { status: "available", ...pet, id: added.id });
  model.pets.push(added);
  const path = `/pets?limit=1&cursor=${encodeCursor(added.id - 1n)}`;
  let listed: unknown;
  do listed = (await send(service, path, { secret: at(model.keys, 0).secret })).body;
  while (stringifyJson(listed) !== stringifyJson([added]));
}

async function get(model: Model, service: TestedService, pet: Pet | undefined, key: Key): Promise<void> {
  const { status, body } = await send(service, `/pets/${pet?.id ?? 7}`, { secret: key.secret });
  accept(key, status, model.statuses(key, "pets:read", pet ? 200 : 404));
  if (status === 200) assert.deepEqual(body, pet);
}

/** Gets the next page of a walk, and checks what every page must fulfil (contract 3). */
async function follow(model: Model, service: TestedService, walk: Walk, key: Key): Promise<void> {
  const { status, body, next } = await send(service, walk.next ?? "", { secret: key.secret });
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

const number = fc.nat(1000);
const status = fc.constantFrom(...PetStatus.options);
const newPet = fc.record(
  {
    name: fc.string({ unit: "binary", minLength: 1, maxLength: 100 }).filter((text) => text.isWellFormed()),
    categoryId: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
    status,
  },
  { requiredKeys: ["name", "categoryId"] },
);

/** What clients do. */
export const clientCommands = [
  fc
    .tuple(newPet, number)
    .map(([pet, n]) =>
      command(`add ${stringifyJson(pet)} with key ${n}`, (model, service) =>
        add(model, service, pet, at(model.keys, n)),
      ),
    ),
  fc
    .tuple(number, number)
    .map(([pet, n]) =>
      command(`get pet ${pet} with key ${n}`, (model, service) =>
        get(model, service, at([...model.pets, undefined], pet), at(model.keys, n)),
      ),
    ),
  fc
    .tuple(fc.option(status, { nil: undefined }), fc.integer({ min: 1, max: 100 }), number)
    .map(([status, limit, n]) =>
      command(`walk in pages of ${limit} ${status ?? "pets"} with key ${n}`, async (model, service) => {
        const filter = status ? `&status=${status}` : "";
        const next = `/pets?limit=${limit}${filter}&cursor=${encodeCursor(at(model.pets, 0).id - 1n)}`;
        const walk = { status, limit, next, expected: model.petsWith(status), found: [] };
        model.walks.push(walk);
        await follow(model, service, walk, at(model.keys, n));
      }),
    ),
  fc.tuple(number, number).map(([walk, n]) =>
    command(
      `resume walk ${walk} with key ${n}`,
      (model, service) => follow(model, service, at(model.walks, walk), at(model.keys, n)),
      (model) => at(model.walks, walk)?.next !== undefined,
    ),
  ),
];

/** These commands run only where the run controls the service. */
const controlled = (service: TestedService) => service as Required<TestedService>;

const issued = (model: Model, n: number) =>
  at(model.keys, n).keyId !== undefined && !at(model.keys, n).revoked;

/** What operators do. */
export const operatorCommands = [
  fc.subarray([...scopes], { minLength: 1 }).map((granted) =>
    command(`issue a key for ${granted}`, async (model, service) => {
      const { key, keyId } = await controlled(service).keys(
        "issue",
        "--name",
        "Model",
        "--scopes",
        granted.join(","),
      );
      model.keys.push({ secret: key, keyId, scopes: granted, revoked: false, used: false });
    }),
  ),
  number.map((n) =>
    command(
      `rotate key ${n}`,
      async (model, service) => {
        const old = at(model.keys, n);
        const { key, keyId } = await controlled(service).keys("rotate", old.keyId ?? "");
        model.keys.push({ secret: key, keyId, scopes: old.scopes, revoked: false, used: false });
      },
      (model) => issued(model, n),
    ),
  ),
  number.map((n) =>
    command(
      `revoke key ${n}`,
      async (model, service) => {
        await controlled(service).keys("revoke", at(model.keys, n).keyId ?? "");
        at(model.keys, n).revoked = true;
      },
      (model) => issued(model, n),
    ),
  ),
  fc.constant(
    command("restart the service", async (model, service) => {
      await controlled(service).restart();
      for (const key of model.keys) key.used = false;
    }),
  ),
];
