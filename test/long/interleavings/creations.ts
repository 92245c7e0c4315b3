import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { claimStore } from "../../../lib/dynamo/claim-store.ts";
import { petCreator } from "../../../lib/dynamo/pet-store.ts";
import { ApiError } from "../../../lib/errors.ts";
import type { IdempotencyToken, NewPet, Pet } from "../../../lib/pet.ts";
import { petIdAt } from "../../../lib/pet-id.ts";
import type { Mutation } from "./mutations.ts";
import { type Choose, type EventLimits, SHARDS, startWorld, WINDOW, type World } from "./world.ts";

const { create } = petCreator({ pets: "pets", claims: "claims" }, SHARDS);
const claims = claimStore(DynamoDBDocumentClient.from(new DynamoDBClient()), "claims");

/** What a caller asks for, in one request or in several. */
interface Creation {
  token: IdempotencyToken;
  pet: NewPet;
}

const pet: NewPet = { name: "Rex", categoryId: 1n, status: "available" };
const same: Creation = { token: { keyId: "key_1", idempotencyKey: "21" }, pet };
const otherBody: Creation = { ...same, pet: { ...pet, name: "Max" } };
const otherKeyId: Creation = { ...same, token: { keyId: "key_2", idempotencyKey: "21" } };
const sameText: Creation = { ...same, token: { keyId: "key_12", idempotencyKey: "1" } };
const others = [otherBody, otherKeyId, sameText];

/** What can happen in a schedule. */
export interface Plan extends EventLimits {
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

export const largePlans: Plan[] = [
  { crashed: WINDOW - 500, creations: [same, same], jumps: 1 },
  { creations: [same, same], faults: 1, changes: 1 },
  { creations: [same, same], changes: 2, jumps: 1 },
  { creations: [same, same], faults: 1, collisions: 1 },
  { creations: [same, same], faults: 1, jumps: 1 },
  { creations: [same, same], faults: 2 },
  ...others.map((other) => ({ creations: [same, other], faults: 1 })),
];

/** Plans in which each mutation shows. */
export const mutatedPlans: Plan[] = [
  { creations: [same, otherBody, otherKeyId], collisions: 1 },
  { creations: [same, same], jumps: 1 },
  { creations: [same, same], changes: 2 },
  { crashed: WINDOW - 500, creations: [same, same, same], jumps: 1 },
];

/** Checks a plan of up to four requests, which the choices decide. */
export const checkAny = (choose: Choose) =>
  checkPlan(choose, {
    ...(choose(2) && { crashed: [16_000, WINDOW - 500][choose(2)] }),
    creations: [
      same,
      ...Array.from({ length: 1 + choose(3) }, () => [same, same, ...others][choose(5)] ?? same),
    ],
    ...{ faults: choose(4), jumps: choose(4), collisions: choose(4), changes: choose(4) },
  });

/** A request as its client saw it. */
interface Outcome extends Creation {
  started: number;
  ended: number;
  /** whether there had been a fault, or the clock had jumped */
  disturbed: boolean;
  created?: Pet;
  error?: ApiError;
}

/**
 * Sends the requests of a plan at once, and then one more for each creation, without a fault.
 *
 * @throws Error with the rules that were broken (contract 2.7 and 4.8)
 */
export async function checkPlan(choose: Choose, plan: Plan, mutation?: Mutation): Promise<void> {
  const { crashed, creations, ...budget } = plan;
  const world = startWorld(choose, mutation);
  const outcomes: Outcome[] = [];
  const request = (creation: Creation) => async () => {
    const started = world.now;
    const result = await create(creation.pet, creation.token).then(
      (created) => ({ created }),
      (error) => {
        if (error instanceof ApiError) return { error };
        throw error; // of the model or the stores: it ends the process
      },
    );
    outcomes.push({ ...creation, started, ended: world.now, disturbed: world.disturbed, ...result });
  };
  if (crashed) {
    outcomes.push({ ...same, started: world.now, ended: world.now, disturbed: false });
    await world.run([() => claims.claim(same.token, same.pet)]);
    world.now += crashed;
  }
  world.allow(budget);
  await world.run(creations.map(request));
  const last = outcomes.length;
  world.allow({});
  for (const creation of new Set(creations)) await world.run([request(creation)]);
  check(world, outcomes, outcomes.slice(last));
}

const bodyOf = ({ name, categoryId, status }: Partial<NewPet> = {}) => `${name} ${categoryId} ${status}`;
const idsOf = (outcomes: Outcome[]) => [...new Set(outcomes.flatMap(({ created }) => created?.id ?? []))];

/** @param last the outcomes without a fault */
function check(world: World, outcomes: Outcome[], last: Outcome[]): void {
  const { now, added } = world;
  const byToken = [...Map.groupBy(outcomes, ({ token }) => token).values()].map((own) => ({
    own,
    start: Math.min(...own.map(({ started }) => started)),
    bodies: new Set(own.map(({ pet }) => bodyOf(pet))).size,
  }));
  const windows = byToken.map(({ start }) => 1 + Math.floor((now - start) / WINDOW));
  const returned = byToken.flatMap(({ own }) => idsOf(own));
  world.check({
    "every 201 in the window has the same pet": byToken.every(
      ({ own, start }) => idsOf(own.filter(({ ended }) => ended < start + WINDOW)).length <= 1,
    ),
    "every 201 has the pet that its request sent, and that was added": outcomes.every(
      ({ created, pet }) =>
        !created || new Set([created, pet, added.get(created.id)?.pet].map(bodyOf)).size === 1,
    ),
    "a request fails only with 422 for another body, or with 503 after a fault": byToken.every(
      ({ own, bodies }) =>
        own.every(
          ({ error, disturbed }) =>
            !error ||
            (error.code === "unavailable" ? disturbed : error.code === "idempotency_mismatch" && bodies > 1),
        ),
    ),
    "without a fault, exactly one body gets a 201": byToken.every(
      ({ own }) => last.filter((outcome) => outcome.created && own.includes(outcome)).length === 1,
    ),
    "a key adds at most one pet for each window": added.size <= windows.reduce((sum, n) => sum + n),
    "two keys never get the same pet": new Set(returned).size === returned.length,
    "a pet is added within 15 seconds of the time in its id": [...added].every(
      ([id, { at }]) => id >= petIdAt(at - 15_000, 0),
    ),
    "no write revives a retired id, changes the creation or undoes a change": world.allKept,
  });
}
