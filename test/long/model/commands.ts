import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { creationOrder } from "../../../lib/creation.ts";
import { encodeCursor } from "../../../lib/cursor.ts";
import { stringifyJson } from "../../../lib/http/json.ts";
import { INT64_MAX, INT64_MIN } from "../../../lib/int64.ts";
import { NAME_LIMIT, PAGE_SIZE } from "../../../lib/limits.ts";
import { createPet } from "../../../lib/operations/create-pet.ts";
import { getPet } from "../../../lib/operations/get-pet.ts";
import { listPets } from "../../../lib/operations/list-pets.ts";
import { type NewPet, type Pet, PetStatus } from "../../../lib/pet.ts";
import { eventually } from "../../support/eventually.ts";
import type { Model, Walk } from "./model.ts";
import { call, type TestedService } from "./service.ts";

/** Selects an element by a number of any size, because the length of the list is determined only when a command runs. */
const at = <T>(elements: readonly T[], n: number) => elements[n % elements.length] as T;

/**
 * Makes commands of one kind. When a run fails, it shows their arguments and the name of `run`.
 *
 * @param check whether a command is possible
 */
export function commands<T extends unknown[]>(
  args: { [Index in keyof T]: fc.Arbitrary<T[Index]> },
  run: (model: Model, service: TestedService, ...values: T) => Promise<void>,
  check: (model: Model, ...values: T) => boolean = () => true,
) {
  return fc.tuple<T>(...args).map(
    (values): fc.AsyncCommand<Model, TestedService> => ({
      run: (model, service) => run(model, service, ...values),
      check: (model) => check(model, ...values),
      toString: () => `${run.name} ${fc.stringify(values)}`,
    }),
  );
}

/** A cursor after the pets that were added before a time. The clock of another machine can differ by a second. */
const cursorBefore = (time: number) => encodeCursor(creationOrder(time - 1000));

/** Adds a pet, repeats the request, and waits until the list shows the pet (contract 3.8 and 4.8). */
export async function add(model: Model, service: TestedService, pet: Partial<NewPet>) {
  const headers: [string, string][] = [["Idempotency-Key", randomUUID()]];
  const from = cursorBefore(Date.now());
  const request = { body: stringifyJson(pet), headers };
  const post = () => call(service, createPet, "/pets", request);
  const first = await post();
  assert.deepEqual(await post(), first);
  const other = { ...request, body: stringifyJson({ ...pet, name: "Another" }), status: 422 };
  if (pet.name !== "Another") await call(service, createPet, "/pets", other);
  const added = first.body as Pet;
  assert.deepEqual(added, { status: "available", ...pet, id: added.id });
  model.pets.push(added);
  const path = `/pets?limit=${PAGE_SIZE.maximum}&cursor=${from}`;
  const list = async () => (await call(service, listPets, path)).body as Pet[];
  const shown = stringifyJson(added);
  const check = (pets: Pet[]) =>
    assert.ok(pets.map((one) => stringifyJson(one)).includes(shown), `${path} does not show ${shown}`);
  await eventually(list, check, { seconds: 10 });
}

async function get(model: Model, service: TestedService, pet: number) {
  const expected = at([...model.pets, undefined], pet);
  const status = expected ? 200 : 404;
  const { body } = await call(service, getPet, `/pets/${expected?.id ?? 7}`, { status });
  if (expected) assert.deepEqual(body, expected);
}

async function walk(model: Model, service: TestedService, status: Walk["status"], limit: number) {
  const filter = status ? `&status=${status}` : "";
  const next = `/pets?limit=${limit}${filter}&cursor=${cursorBefore(model.start)}`;
  const expected = model.pets.filter((pet) => !status || pet.status === status);
  const walk = { status, limit, next, expected, found: [] };
  model.walks.push(walk);
  await follow(service, walk);
}

const resume = (model: Model, service: TestedService, walk: number) => follow(service, at(model.walks, walk));

/** Gets the next page of a walk, and checks what every page must fulfil (contract 3). */
async function follow(service: TestedService, walk: Walk) {
  const { body, next } = await call(service, listPets, walk.next ?? "");
  const page = body as Pet[];
  assert.ok(next ? page.length === walk.limit : page.length <= walk.limit);
  if (walk.found.length > 0) assert.ok(page.length > 0); // contract 2.8 and 3.4: the pets that a link means still follow
  assert.ok(page.every((pet) => walk.status === undefined || pet.status === walk.status));
  walk.found.push(...page);
  walk.next = next;
  assert.equal(new Set(walk.found.map(({ id }) => id)).size, walk.found.length);
  if (next) return;
  const expected = new Set(walk.expected.map(({ id }) => id));
  const found = walk.found.filter(({ id }) => expected.has(id));
  assert.deepEqual(found, walk.expected);
}

/** Follows every walk to its end, in large pages. */
export async function finishWalks(model: Model, service: TestedService): Promise<void> {
  for (const walk of model.walks) {
    walk.limit = PAGE_SIZE.maximum;
    walk.next = walk.next?.replace(/limit=\d+/, `limit=${walk.limit}`);
    while (walk.next) await follow(service, walk);
  }
}

const number = fc.nat(1000);
// Most runs have few pets: only a small page has a next one.
const { minimum, maximum } = PAGE_SIZE;
const limit = fc.oneof(fc.constant(minimum), fc.integer({ min: minimum, max: maximum }));
const status = fc.constantFrom(...PetStatus.options);
const text = fc.string({ unit: "binary", minLength: 1, maxLength: NAME_LIMIT });
const members = {
  name: text.filter((name) => name.isWellFormed()),
  categoryId: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  status,
};
const newPet = fc.record(members, { requiredKeys: ["name", "categoryId"] });

/** What clients do. */
export const clientCommands = [
  commands([newPet], add),
  commands([number], get),
  commands([fc.option(status, { nil: undefined }), limit], walk),
  commands([number], resume, (model, walk) => at(model.walks, walk)?.next !== undefined),
];
