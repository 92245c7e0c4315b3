import { petCreator, petLister } from "../../../lib/dynamo/pet-store.ts";
import { type NewPet, type Pet, type PetPage, PetStatus } from "../../../lib/pet.ts";
import { type Choose, startWorld } from "./world.ts";

const SHARDS = 3;
const { create } = petCreator({ pets: "pets", claims: "claims" }, SHARDS);
const list = petLister("pets", SHARDS);

/**
 * Follows the pages of the list while callers add pets and retry, with the index behind the table by any amount.
 *
 * @throws Error with the rules that were broken (contract 3.1, 3.3 and 3.8)
 */
export async function checkWalk(choose: Choose): Promise<void> {
  const world = startWorld(choose, {}, { indexLag: true });
  const anyStatus = () => PetStatus.options[choose(3)] ?? "sold";
  const add = (key: string) => {
    const pet: NewPet = { name: "Rex", categoryId: 1n, status: anyStatus() };
    return () => create(pet, { caller: "key_1", key }).catch(() => undefined);
  };
  const before = Array.from({ length: choose(5) }, (_, n) => add(`before ${n}`));
  await world.run(before);

  const limit = 1 + choose(3);
  const status = choose(2) ? anyStatus() : undefined;
  let listed: unknown[] = [];
  const found: Pet[] = [];
  const walk = async () => {
    const entries = [...world.pets.index.values()];
    listed = entries.filter((pet) => !status || pet.status === status).map(({ id }) => id);
    for (let after: bigint | undefined = 0n; after !== undefined; ) {
      const page: PetPage = await list({ limit, status, after });
      found.push(...page.pets);
      after = page.next;
    }
  };
  const during = Array.from({ length: 3 }, (_, n) => add(`during ${n}`));
  // Retries write again what is stored already. A caller runs once, so each retry is a caller of its own.
  const retries = [...before.slice(0, 2), ...during.slice(0, 1)].map((again) => () => again());
  await world.run([walk, ...during, ...retries]);

  const ids = found.map(({ id }) => id);
  world.check({
    "every pet that was listed at the start is found": listed.every((id) => ids.includes(id as bigint)),
    "ids ascend, so that no pet is found twice": ids.every((id, n) => n === 0 || id > (ids[n - 1] ?? 0n)),
    "every pet has the status of the filter": found.every((pet) => !status || pet.status === status),
  });
}
