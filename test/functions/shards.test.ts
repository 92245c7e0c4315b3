import { afterAll, beforeEach, describe, expect, it } from "@jest/globals";
import { petCreator, petLister } from "../../lib/dynamo/pet-store.ts";
import type { Pet, PetStatus } from "../../lib/pet.ts";
import { recordCalls } from "../support/calls.ts";
import { ownTables } from "../support/own-tables.ts";

const { pets, claims } = await ownTables();
const statuses: PetStatus[] = ["available", "pending", "sold"];

const recorder = recordCalls();
beforeEach(() => {
  recorder.take();
});
afterAll(() => recorder.stop());

describe("a status spread over 4 partitions", () => {
  const sharded = petCreator({ pets, claims }, 4);
  const whole = petCreator({ pets, claims }, 1);
  const list = petLister(pets, 4);
  const added: Pet[] = [];

  async function walk(limit: number, status?: PetStatus): Promise<Pet[]> {
    const all: Pet[] = [];
    for (let after: bigint | undefined = 0n; after !== undefined; ) {
      const page = await list({ limit, after, status });
      all.push(...page.pets);
      after = page.next;
    }
    return all;
  }

  it("gives every animal exactly once and in order, those written before the spread included", async () => {
    for (let n = 0; n < 60; n++) {
      const status = statuses[n % 3] ?? "sold";
      // The first 20 are of the time before the number was raised.
      const creator = n < 20 ? whole : sharded;
      added.push(await creator.create({ name: `Spread ${n}`, categoryId: BigInt(n), status }));
    }
    added.sort((a, b) => (a.id < b.id ? -1 : 1));
    const written = recorder.take().map(({ input }) => (input.Item as { status: string }).status);
    for (const shard of ["sold", "sold#1", "sold#2", "sold#3"]) expect(written).toContain(shard);

    for (const limit of [1, 7, 100]) expect(await walk(limit)).toEqual(added);
    for (const status of statuses) {
      expect(await walk(3, status)).toEqual(added.filter((pet) => pet.status === status));
    }
    expect(new Set(recorder.take().map(({ command }) => command))).toEqual(new Set(["QueryCommand"]));
  });

  it("costs a page one Query a partition, all at once", async () => {
    for (const [status, expected] of [
      ["sold", 4],
      [undefined, 12],
    ] as const) {
      await list({ limit: 20, status });
      const calls = recorder.take();
      expect(calls.map(({ command }) => command)).toEqual(Array(expected).fill("QueryCommand"));
      expect(Math.max(...calls.map(({ started }) => started))).toBeLessThan(
        Math.min(...calls.map(({ answered }) => answered)),
      );
    }
  });
});
