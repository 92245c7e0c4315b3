import { petCreator, petLister } from "../../../lib/dynamo/pet-store.ts";
import { type NewPet, type Pet, type PetPage, PetStatus } from "../../../lib/pet.ts";
import type { Mutation } from "./mutations.ts";
import type { Choose } from "./table-model.ts";
import { SHARDS, startWorld } from "./world.ts";

const { create } = petCreator({ pets: "pets", claims: "claims" }, SHARDS);
const { list } = petLister("pets", SHARDS);

/**
 * Follows the pages of the list while callers add pets and retry, with the replicas of the index behind the table by any
 * amount. Each query can read another replica.
 *
 * @param strict whether the pets that only some replicas had at the start must be found as well, which DynamoDB does not
 *   promise
 * @throws Error with the rules that were broken (contract 3.1, 3.3 and 3.8)
 */
export async function checkWalk(choose: Choose, mutation?: Mutation, strict = false): Promise<void> {
  const world = startWorld(choose, {}, mutation, true);
  const anyStatus = () => PetStatus.options[choose(3)] ?? "sold";
  const add = (key: string) => {
    const pet: NewPet = { name: "Rex", categoryId: 1n, status: anyStatus() };
    return () => create(pet, { caller: "key_1", key }).catch(() => undefined);
  };
  const before = Array.from({ length: choose(5) }, (_, n) => add(`before ${n}`));
  await world.run(before);

  const limit = 1 + choose(3);
  const status = choose(2) ? anyStatus() : undefined;
  let listed: Set<unknown>[] = [];
  const found: Pet[] = [];
  const walk = async () => {
    listed = world.pets.replicas.map((replica) => {
      const entries = [...replica.values()].filter((pet) => !status || pet.status === status);
      return new Set(entries.map(({ id }) => id));
    });
    // A broken walk can be endless.
    for (let after: bigint | undefined = 0n; after !== undefined && found.length < 100; ) {
      const page: PetPage = await list({ limit, status, after });
      found.push(...page.pets);
      after = page.next;
    }
  };
  const during = Array.from({ length: 3 }, (_, n) => add(`during ${n}`));
  // Retries find what is stored already. A caller runs once, so each retry is a caller of its own.
  const retries = [...before.slice(0, 2), ...during.slice(0, 1)].map((again) => () => again());
  await world.run([walk, ...during, ...retries]);

  const ids = new Set<unknown>(found.map(({ id }) => id));
  const isFound = (replica: Set<unknown>) => replica.isSubsetOf(ids);
  world.check({
    "every pet that each replica had at the start is found": isFound(
      listed.reduce((all, replica) => all.intersection(replica)),
    ),
    "every pet that a replica had at the start is found": !strict || listed.every(isFound),
    "ids ascend, so that no pet is found twice": found.every(
      ({ id }, n) => n === 0 || id > (found[n - 1]?.id ?? 0n),
    ),
    "every pet has the status of the filter": found.every((pet) => !status || pet.status === status),
  });
}
