import { petCreator } from "../../../lib/dynamo/pet-store.ts";
import type { ApiError } from "../../../lib/errors.ts";
import type { NewPet, Pet } from "../../../lib/pet.ts";
import { type Budget, type Choose, DAY, startWorld } from "./world.ts";

const { create } = petCreator({ pets: "pets", claims: "claims" }, 3);
const token = { caller: "key_1", key: "1" };

const rex: NewPet = { name: "Rex", categoryId: 1n, status: "sold" };
const tom: NewPet = { ...rex, name: "Tom" };

/** A request as its client saw it. */
interface Outcome {
  sent: NewPet;
  started: number;
  ended: number;
  /** of a 201 */
  pet?: Pet;
  error?: ApiError;
}

/** Checks two concurrent requests with the same body or with different ones. */
export const checkTwo = (choose: Choose, budget: Budget) =>
  checkCreations(choose, { bodies: choose(2) ? [rex, rex] : [rex, tom], budget });

/** Checks two to four concurrent requests, with bodies and a budget that the choices decide. */
export const checkAny = (choose: Choose) =>
  checkCreations(choose, {
    earlier: choose(2) ? [rex] : [],
    bodies: Array.from({ length: 2 + choose(3) }, () => (choose(3) ? rex : tom)),
    budget: { faults: choose(4), jumps: choose(4), collisions: choose(4) },
  });

/**
 * Sends requests with one Idempotency-Key at once, and then each of their bodies once more without a fault.
 *
 * @param schedule.earlier the body of a request that ended almost 24 hours before the others, if there is one
 * @param schedule.bodies the bodies of the concurrent requests
 * @throws Error with the rules that were broken (contract 4.8)
 */
async function checkCreations(
  choose: Choose,
  { earlier = [], bodies, budget }: { earlier?: NewPet[]; bodies: NewPet[]; budget: Budget },
): Promise<void> {
  const world = startWorld(choose, budget);
  const outcomes: Outcome[] = [];
  const request = (sent: NewPet) => async () => {
    const started = world.now;
    const result = await create(sent, token).then(
      (pet) => ({ pet }),
      (error: ApiError) => ({ error }),
    );
    outcomes.push({ sent, started, ended: world.now, ...result });
  };
  if (earlier.length > 0) {
    await world.run(earlier.map(request));
    world.now += DAY - 1000;
  }
  await world.run(bodies.map(request));
  const before = outcomes.length;
  world.calm();
  for (const body of new Set([...bodies, ...earlier])) await world.run([request(body)]);
  checkRules(world, outcomes, outcomes.slice(before));
}

const bodyOf = ({ name, categoryId, status }: Partial<Record<keyof Pet, unknown>>) =>
  `${name} ${categoryId} ${status}`;

/** @param last those of the requests without a fault */
function checkRules(world: ReturnType<typeof startWorld>, outcomes: Outcome[], last: Outcome[]): void {
  const { pets, added, now } = world;
  const start = Math.min(...outcomes.map(({ started }) => started));
  const end = start + DAY;
  const sent = new Set(outcomes.map(({ sent }) => bodyOf(sent)));
  const stored = [...pets.items.values()].filter((item) => sent.has(bodyOf(item)));
  const storedInTime = stored.filter(({ id }) => (added.get(id) ?? 0) < end);
  const created = outcomes.flatMap(({ pet, ...outcome }) => (pet ? [{ ...outcome, pet }] : []));
  const createdInTime = new Set(created.filter(({ ended }) => ended < end).map(({ pet }) => pet.id));
  const failed = outcomes.filter(({ pet }) => !pet);
  const allowed = ["unavailable", ...(sent.size > 1 ? ["idempotency_mismatch"] : [])];
  world.check({
    "a key adds at most one pet within its 24 hours": storedInTime.length <= 1,
    "a key adds at most one pet for each 24 hours": stored.length <= 1 + Math.floor((now - start) / DAY),
    "every 201 within 24 hours has the same pet": createdInTime.size <= 1,
    "every 201 has the pet that its request sent": created.every(
      ({ pet, sent }) => bodyOf(pet) === bodyOf(sent),
    ),
    "every 201 has a pet that is stored as it was returned": created.every(
      ({ pet }) => bodyOf(pets.items.get(pet.id) ?? {}) === bodyOf(pet),
    ),
    "no stored pet changes": pets.replaced.length === 0,
    "a request fails only with 422 for another body, or with 503": failed.every(({ error }) =>
      allowed.includes(error?.code ?? ""),
    ),
    "without a fault, exactly one body gets a 201": last.filter(({ pet }) => pet).length === 1,
    "without a fault, no request gets a 503": last.every(({ error }) => error?.code !== "unavailable"),
  });
}
