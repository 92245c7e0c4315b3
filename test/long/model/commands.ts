import fc from "fast-check";
import { scopes } from "../../../lib/api-key.ts";
import { encodeCursor } from "../../../lib/cursor.ts";
import { stringifyJson } from "../../../lib/http/json.ts";
import { INT64_MAX, INT64_MIN } from "../../../lib/int64.ts";
import { PetStatus } from "../../../lib/pet.ts";
import { attack, type HostileResult } from "./hostile.ts";
import { type Model, newKey } from "./model.ts";
import type { Control, TestedService } from "./service.ts";
import { add, at, follow, get } from "./steps.ts";

type Command = fc.AsyncCommand<Model, TestedService>;

/** @param name shown when a run fails */
const command = (
  name: string,
  run: (model: Model, service: TestedService) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): Command => ({ run, check, toString: () => name });

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

/**
 * Hostile requests, which must not disturb anybody. They have the run's key, so they can add pets.
 *
 * @param count how many a command sends
 * @param result counts the responses
 */
export const hostileCommand = (count: number, result: HostileResult) =>
  fc.noShrink(fc.nat()).map((seed) =>
    command(`send ${count} hostile requests, seed ${seed}`, async (_model, service) => {
      await attack(service, { seed, count, result });
    }),
  );

const issued = (model: Model, n: number) =>
  at(model.keys, n).keyId !== undefined && !at(model.keys, n).revoked;

/** What operators do. */
export const operatorCommands = ({ keys, restart }: Control) => [
  fc.subarray([...scopes], { minLength: 1 }).map((granted) =>
    command(`issue a key for ${granted}`, async (model) => {
      const { key, keyId } = await keys("issue", "--name", "Model", "--scopes", granted.join(","));
      model.keys.push(newKey(key, granted, keyId));
    }),
  ),
  number.map((n) =>
    command(
      `rotate key ${n}`,
      async (model) => {
        const old = at(model.keys, n);
        const { key, keyId } = await keys("rotate", old.keyId ?? "");
        old.rotating = true;
        model.keys.push(newKey(key, old.scopes, keyId));
      },
      (model) => issued(model, n) && !at(model.keys, n).rotating,
    ),
  ),
  number.map((n) =>
    command(
      `revoke key ${n}`,
      async (model) => {
        await keys("revoke", at(model.keys, n).keyId ?? "");
        at(model.keys, n).revoked = true;
      },
      (model) => issued(model, n),
    ),
  ),
  fc.constant(
    command("restart the service", async (model) => {
      await restart();
      for (const key of model.keys) key.used = false;
    }),
  ),
];
