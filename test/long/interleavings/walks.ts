import { petCreator, petLister } from "../../../lib/dynamo/pet-store.ts";
import { type NewPet, type Pet, type PetPage, PetStatus } from "../../../lib/pet.ts";
import type { Choices } from "./choices.ts";
import { startWorld } from "./world.ts";

const SHARDS = 3;
const { create } = petCreator({ pets: "pets", claims: "claims" }, SHARDS);
const list = petLister("pets", SHARDS);

/**
 * Follows the pages of the list while callers add pets and retry, with the index behind the table by any amount.
 *
 * @returns the rules that were broken (contract 3.1, 3.3 and 3.8); empty when there are none
 */
export async function checkWalk(choices: Choices): Promise<string[]> {
  const world = startWorld(choices, { indexLag: true });
  const newPet = (): NewPet => ({
    name: "Rex",
    categoryId: 1n,
    status: PetStatus.options[choices.pick(3)] ?? "sold",
  });
  const add = (pet: NewPet, key: string) => () =>
    create(pet, { caller: "key_1", key }).catch(() => undefined);
  const before = Array.from({ length: choices.pick(5) }, (_, n) => add(newPet(), `before ${n}`));
  await world.run(before);

  const limit = 1 + choices.pick(3);
  const status = choices.pick(2) ? PetStatus.options[choices.pick(3)] : undefined;
  let listed: bigint[] = [];
  const found: Pet[] = [];
  const walk = async () => {
    listed = [...world.pets.index.values()]
      .filter((pet) => status === undefined || pet.status === status)
      .map(({ id }) => id as bigint);
    for (let after: bigint | undefined = 0n; after !== undefined; ) {
      const page: PetPage = await list({ limit, status, after });
      found.push(...page.pets);
      after = page.next;
    }
  };
  const during = Array.from({ length: 3 }, (_, n) => add(newPet(), `during ${n}`));
  // Retries write again what is stored already.
  await world.run([walk, ...during, ...before.slice(0, 2), ...during.slice(0, 1)]);

  const ids = found.map(({ id }) => id);
  const rules: [string, boolean][] = [
    ["every pet that was listed at the start is found", listed.every((id) => ids.includes(id))],
    ["ids ascend, so that no pet is found twice", ids.every((id, n) => n === 0 || id > (ids[n - 1] ?? 0n))],
    ["every pet has the status of the filter", found.every((pet) => !status || pet.status === status)],
  ];
  const broken = rules.flatMap(([rule, holds]) => (holds ? [] : [rule]));
  return broken.length > 0 ? [...broken, ...world.history.map((line) => `  ${line}`)] : [];
}
