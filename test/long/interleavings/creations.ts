import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { claimStore } from "../../../lib/dynamo/claim-store.ts";
import { petCreator } from "../../../lib/dynamo/pet-store.ts";
import type { ApiError } from "../../../lib/errors.ts";
import type { IdempotencyToken, NewPet, Pet } from "../../../lib/pet.ts";
import { petIdAt } from "../../../lib/pet-id.ts";
import type { Mutation } from "./mutations.ts";
import type { Choose } from "./table-model.ts";
import { type Budget, SHARDS, startWorld, WINDOW, type World } from "./world.ts";

const { create } = petCreator({ pets: "pets", claims: "claims" }, SHARDS);
const claims = claimStore(DynamoDBDocumentClient.from(new DynamoDBClient()), "claims");

/** What a caller asks for, in one request or in several. */
interface Creation {
  token: IdempotencyToken;
  pet: NewPet;
}

const pet: NewPet = { name: "Rex", categoryId: 1n, status: "available" };
const same: Creation = { token: { keyId: "key_1", key: "1" }, pet };
const otherBody: Creation = { ...same, pet: { ...pet, name: "Max" } };
const otherToken: Creation = { ...same, token: { keyId: "key_1", key: "2" } };
const others = [otherBody, otherToken];

/** What can happen in a schedule. */
export interface Plan extends Budget {
  /** A request for the first creation ended after its first write, this many milliseconds ago. */
  crashed?: number;
  /** of requests that can be interrupted by the others after every step */
  creations: Creation[];
}

/** Plans with so few schedules that all of them can run, the smallest ones first. */
export const smallPlans: Plan[] = [
  { creations: [same], collisions: 2 },
  { crashed: 16_000, creations: [same], faults: 1 },
  ...others.map((other) => ({ creations: [same, other] })),
  { creations: [same, same], jumps: 1 },
  { creations: [same, same], collisions: 1 },
  { crashed: WINDOW - 500, creations: [same], jumps: 1 },
  { creations: [same, same], changes: 1 },
  { creations: [same, same], faults: 1 },
];

const twoChanges = { creations: [same, same], changes: 2 };

/** Plans that show every mutation. */
export const mutatedPlans: Plan[] = [...smallPlans, twoChanges];

export const largePlans: Plan[] = [
  twoChanges,
  { crashed: WINDOW - 500, creations: [same, same], jumps: 1 },
  { creations: [same, same], faults: 1, changes: 1 },
  { creations: [same, same], changes: 2, jumps: 1 },
  { creations: [same, same], faults: 1, collisions: 1 },
  { creations: [same, same], faults: 1, jumps: 1 },
  { creations: [same, same], faults: 2 },
  ...others.map((other) => ({ creations: [same, other], faults: 1 })),
];

/** Checks a plan of up to four requests, which the choices decide. */
export const checkAny = (choose: Choose) =>
  checkPlan(choose, {
    ...(choose(2) && { crashed: [16_000, WINDOW - 500][choose(2)] }),
    creations: [
      same,
      ...Array.from({ length: 1 + choose(3) }, () => [same, same, ...others][choose(4)] ?? same),
    ],
    ...{ faults: choose(4), jumps: choose(4), collisions: choose(4), changes: choose(4) },
  });

/** A request as its client saw it. */
interface Outcome extends Creation {
  started: number;
  ended: number;
  /** whether there had been a fault, or the clock had jumped */
  disturbed: boolean;
  /** of a 201 */
  created?: Pet | undefined;
  error?: ApiError;
}

/**
 * Sends the requests of a plan at once, and then one more for each creation, without a fault.
 *
 * @throws Error with the rules that were broken (contract 2.7 and 4.8)
 */
export async function checkPlan(choose: Choose, plan: Plan, mutation?: Mutation): Promise<void> {
  const { crashed, creations, ...budget } = plan;
  const world = startWorld(choose, crashed ? {} : budget, mutation);
  const outcomes: Outcome[] = [];
  const request = (creation: Creation, send: () => Promise<Pet | undefined>) => async () => {
    const started = world.now;
    const result = await send().then(
      (created) => ({ created }),
      (error: ApiError) => ({ error }),
    );
    outcomes.push({ ...creation, started, ended: world.now, disturbed: world.disturbed, ...result });
  };
  const whole = (creation: Creation) => request(creation, () => create(creation.pet, creation.token));
  if (crashed) {
    await world.run([request(same, () => claims.claim(same.token, same.pet).then(() => undefined))]);
    world.now += crashed;
    world.allow(budget);
  }
  await world.run(creations.map(whole));
  const before = outcomes.length;
  world.allow({});
  for (const creation of new Set(creations)) await world.run([whole(creation)]);

  const byToken = [...Map.groupBy(outcomes, ({ token }) => token).values()];
  for (const own of byToken) {
    const last = outcomes.slice(before).filter((outcome) => own.includes(outcome));
    checkToken(world, own, last);
  }
  checkStored(world, byToken);
}

const startOf = (outcomes: Outcome[]) => Math.min(...outcomes.map(({ started }) => started));
const bodyOf = ({ name, categoryId, status }: Partial<NewPet> = {}) => `${name} ${categoryId} ${status}`;

/** @param last those of the requests without a fault */
function checkToken(world: World, outcomes: Outcome[], last: Outcome[]): void {
  const end = startOf(outcomes) + WINDOW;
  const bodies = new Set(outcomes.map(({ pet }) => bodyOf(pet)));
  const successful = outcomes.flatMap(({ created, ...outcome }) =>
    created ? [{ ...outcome, created }] : [],
  );
  const inTime = successful.filter(({ ended }) => ended < end);
  const expected = ({ error, disturbed }: Outcome) =>
    !error ||
    (error.code === "unavailable" && disturbed) ||
    (error.code === "idempotency_mismatch" && bodies.size > 1);
  world.check({
    "every 201 in the window has the same pet": new Set(inTime.map(({ created }) => created.id)).size <= 1,
    "a second after the window, a 201 has another pet": successful.every((later) =>
      successful.every(
        ({ ended, created }) => later.started < ended + WINDOW + 1000 || later.created.id !== created.id,
      ),
    ),
    "every 201 has the pet that its request sent": successful.every(
      ({ created, pet }) => bodyOf(created) === bodyOf(pet),
    ),
    "every 201 has a pet that was added as it was returned": successful.every(
      ({ created }) => bodyOf(world.added.get(created.id)?.pet) === bodyOf(created),
    ),
    "a request fails only with 422 for another body, or with 503 after a fault": outcomes.every(expected),
    "without a fault, exactly one body gets a 201": last.filter(({ created }) => created).length === 1,
  });
}

/** @param byToken the outcomes of each token */
function checkStored(world: World, byToken: Outcome[][]): void {
  const { now, deletions } = world;
  const end = startOf(byToken.flat()) + WINDOW;
  const added = [...world.added];
  const days = byToken.reduce((sum, own) => sum + 1 + Math.floor((now - startOf(own)) / WINDOW), 0);
  const returned = byToken.flatMap((own) => [...new Set(own.flatMap(({ created }) => created?.id ?? []))]);
  const byPet = [...Map.groupBy(deletions, ({ id }) => id)].filter(([id]) => world.added.has(id));
  world.check({
    "a key adds at most one pet within its window":
      added.filter(([, { at }]) => at < end).length <= byToken.filter((own) => startOf(own) < end).length,
    "a key adds at most one pet for each window": added.length <= days,
    "two keys never get the same pet": new Set(returned).size === returned.length,
    "a pet is added within 15 seconds of the time in its id": added.every(
      ([id, { at }]) => id >= petIdAt(at - 15_000, 0),
    ),
    "of the deletions of a pet, one finds it": byPet.every(
      ([, own]) =>
        own.some(({ deleted }) => deleted !== false) && own.filter(({ deleted }) => deleted).length <= 1,
    ),
  });
}
