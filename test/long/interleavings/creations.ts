import { petCreator } from "../../../lib/dynamo/pet-store.ts";
import { ApiError, type ErrorCode } from "../../../lib/errors.ts";
import type { NewPet, Pet } from "../../../lib/pet.ts";
import type { Choices } from "./choices.ts";
import type { Item } from "./expressions.ts";
import { type Budget, DAY, startWorld } from "./world.ts";

const { create } = petCreator({ pets: "pets", claims: "claims" }, 3);
const token = { caller: "key_1", key: "1" };

const rex: NewPet = { name: "Rex", categoryId: 1n, status: "sold" };
const tom: NewPet = { name: "Tom", categoryId: 1n, status: "sold" };

interface Schedule {
  /** the body of a request that ended almost 24 hours before the others, if there is one */
  earlier?: NewPet | undefined;
  /** the bodies of the concurrent requests */
  bodies: NewPet[];
  budget: Partial<Budget>;
}

/** Checks two concurrent requests with the same body or with different ones. */
export const checkTwo = (choices: Choices, budget: Partial<Budget>) =>
  checkCreations(choices, { bodies: choices.pick(2) ? [rex, rex] : [rex, tom], budget });

/** Checks two to four concurrent requests, with bodies and a budget that the choices decide. */
export const checkAny = (choices: Choices) => {
  const body = () => (choices.pick(3) ? rex : tom);
  return checkCreations(choices, {
    earlier: choices.pick(2) ? rex : undefined,
    bodies: Array.from({ length: 2 + choices.pick(3) }, body),
    budget: { faults: choices.pick(4), jumps: choices.pick(4), collisions: choices.pick(4) },
  });
};

/** A request as its client saw it. */
interface Outcome {
  started: number;
  ended: number;
  sent: NewPet;
  /** the pet of a 201, or the error */
  result: unknown;
}

const bodyOf = ({ name, categoryId, status }: Item | Pet) => `${name} ${categoryId} ${status}`;
const isPet = (result: unknown): result is Pet =>
  typeof result === "object" && result !== null && "id" in result;
const isError = (result: unknown, code: ErrorCode) => result instanceof ApiError && result.code === code;

/**
 * Sends requests with one Idempotency-Key at once, and then each of their bodies once more without a fault.
 *
 * @returns the rules that were broken (contract 4.8); empty when there are none
 */
async function checkCreations(choices: Choices, { earlier, bodies, budget }: Schedule): Promise<string[]> {
  const world = startWorld(choices, budget);
  const outcomes: Outcome[] = [];
  const request = (sent: NewPet) => async () => {
    const started = world.now;
    const result = await create(sent, token).catch((error: unknown) => error);
    outcomes.push({ started, ended: world.now, sent, result });
  };
  if (earlier) {
    await world.run([request(earlier)]);
    world.now += DAY - 1000;
  }
  await world.run(bodies.map(request));
  const concurrent = [...outcomes];
  Object.assign(world.budget, { faults: 0, jumps: 0, collisions: 0 });
  for (const body of new Set([...bodies, ...(earlier ? [earlier] : [])])) await world.run([request(body)]);

  const rules = brokenRules(world, outcomes, outcomes.slice(concurrent.length));
  return rules.length > 0 ? [...rules, ...world.history.map((line) => `  ${line}`)] : [];
}

function brokenRules(
  { pets, added, now }: ReturnType<typeof startWorld>,
  outcomes: Outcome[],
  last: Outcome[],
): string[] {
  const start = Math.min(...outcomes.map(({ started }) => started));
  const end = start + DAY;
  const days = Math.floor((now - start) / DAY);
  const sent = new Set(outcomes.map(({ sent }) => bodyOf(sent)));
  const created = outcomes.filter(({ result }) => isPet(result)) as (Outcome & { result: Pet })[];
  const storedBody = (id: bigint) => bodyOf(pets.items.get(id) ?? {});
  const stored = [...pets.items.values()].filter((item) => sent.has(bodyOf(item)));
  const storedInTime = stored.filter(({ id }) => (added.get(id) ?? 0) < end);
  const createdInTime = created.filter(({ ended }) => ended < end);
  const rules: [string, boolean][] = [
    ["a key adds at most one pet within its 24 hours", storedInTime.length <= 1],
    ["a key adds at most one pet for each 24 hours", stored.length <= 1 + days],
    [
      "every 201 within 24 hours has the same pet",
      new Set(createdInTime.map(({ result }) => result.id)).size <= 1,
    ],
    [
      "every 201 has the pet that its request sent",
      created.every((one) => bodyOf(one.result) === bodyOf(one.sent)),
    ],
    [
      "every 201 has a pet that is stored as it was returned",
      created.every(({ result }) => storedBody(result.id) === bodyOf(result)),
    ],
    ["no stored pet changes", pets.replaced.length === 0],
    [
      "a request fails only with 422 for another body, or with 503",
      outcomes.every(
        ({ result }) =>
          isPet(result) ||
          isError(result, "unavailable") ||
          (sent.size > 1 && isError(result, "idempotency_mismatch")),
      ),
    ],
    ["without a fault, exactly one body gets a 201", last.filter(({ result }) => isPet(result)).length === 1],
    ["without a fault, no request gets a 503", !last.some(({ result }) => isError(result, "unavailable"))],
  ];
  return rules.flatMap(([rule, holds]) => (holds ? [] : [rule]));
}
