import { expect, it } from "@jest/globals";
import { creationIdOf, creationOrder, fingerprintOf, idOf } from "../../lib/creation.ts";

const token = { keyId: "key_test", idempotencyKey: "8e03978e-40d5-43dd-bc93-6894a57f9324" };
const creationId = "CIiWocJk1Ad3v-aQBG8ns2";
const pet = { name: "Rex", categoryId: 1n, status: "available" as const };

// Never change these values: they are computed by an independent implementation, and stored. With other ids, a retry of an
// earlier request adds a second pet, also while a deployment serves two versions. With other fingerprints, it is a 422.
it("computes the same creation, ids and fingerprint in every version of the service", () => {
  expect(creationIdOf(token)).toBe(creationId);
  expect(idOf(creationId, 0)).toBe(2160745118624708n);
  expect(idOf(creationId, 1)).toBe(6803092370851701n);
  expect(fingerprintOf(creationId, pet)).toBe("tlLylVfFvlL98m94aUQgnB");
});

it("makes another creation of another API key, and of each request without a token", () => {
  const { idempotencyKey } = token;
  const tokens = [`key_1 2${idempotencyKey}`, `key_12 ${idempotencyKey}`].map((text) => text.split(" "));
  const ids = tokens.map(([keyId = "", rest = ""]) => creationIdOf({ keyId, idempotencyKey: rest }));
  expect(new Set([...ids, creationIdOf(), creationIdOf()]).size).toBe(4);
});

it("assigns ids from 1 to 2^53 - 1", () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => idOf(String(n), 0));
  expect(ids.filter((id) => id < 1n || id >= 2n ** 53n)).toEqual([]);
  expect(ids.some((id) => id >= 2n ** 52n)).toBe(true);
});

it("orders pets by time and then by id, in a number that a person can read", () => {
  const now = Date.UTC(2026, 10, 20);
  const orders = [creationOrder(now), creationOrder(now, 1n), creationOrder(now, 2n ** 53n - 1n)];
  orders.push(creationOrder(now + 1));
  expect(orders.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(orders);
  expect(String(creationOrder(now, 114677519594330n))).toBe("17951328000000114677519594330");
});
