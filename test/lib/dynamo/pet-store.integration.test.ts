import { beforeAll, describe, expect, it } from "@jest/globals";
import { petCreator, petLister } from "../../../lib/dynamo/pet-store.ts";
import { type Pet, PetStatus } from "../../../lib/pet.ts";
import { recordCalls } from "../../support/calls.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { listAll } from "../../support/pets.ts";

const { pets, claims } = await createOwnTables();

const takeCalls = recordCalls();

describe("a status spread over 4 partitions", () => {
  const sharded = petCreator({ pets, claims }, 4);
  const whole = petCreator({ pets, claims }, 1);
  const lister = petLister(pets, 4);
  const { list } = lister;
  const added: Pet[] = [];
  let written: (Pet & { statusShard: string })[];

  beforeAll(async () => {
    for (let n = 0; n < 24; n++) {
      const status = PetStatus.options[n % PetStatus.options.length] ?? "sold";
      // The first 8 come from the time before the number was raised.
      const creator = n < 8 ? whole : sharded;
      added.push(await creator.create({ name: `Spread ${n}`, categoryId: BigInt(n), status }));
    }
    added.sort((a, b) => (a.id < b.id ? -1 : 1));
    written = takeCalls().map(({ input }) => input.Item as Pet & { statusShard: string });
  });

  it("keeps every pet in the partition that its id determines", () => {
    for (const { name, id, status, statusShard } of written) {
      const shard = Number(name.split(" ")[1]) < 8 ? 0n : id % 4n;
      expect(statusShard).toBe(shard === 0n ? status : `${status}#${shard}`);
    }
    expect(written).toHaveLength(24);
  });

  it("lists every pet exactly once and in order, including those written before the spread", async () => {
    for (const limit of [5, 100]) expect(await listAll(lister, { limit })).toEqual(added);
    expect((await list({ limit: 23 })).next).toBe(added[22]?.id);
    expect((await list({ limit: 24 })).next).toBeUndefined();
    for (const status of PetStatus.options) {
      expect(await listAll(lister, { limit: 5, status })).toEqual(
        added.filter((pet) => pet.status === status),
      );
    }
  });
});
