import { checkAny, checkPlan, largePlans, mutatedPlans, smallPlans } from "./creations.ts";
import { creationMutations, walkMutations } from "./mutations.ts";
import { type Choose, randomChoices } from "./table-model.ts";
import { checkWalk } from "./walks.ts";

type Options = Record<"schedules" | "seed", number> & { quick: boolean };

/** Runs one schedule. It must make the same choices when it is offered the same ones. */
type Check = (choose: Choose) => Promise<void>;

/** Schedules that run one after the other. The first one whose check fails throws its error. */
type Schedules = AsyncGenerator<void, void>;

// The rarest mutation of a walk shows in one of 150 schedules, so it is missed once in 600,000 runs.
const WALK_SCHEDULES = 2000;

/** Makes every sequence of choices once, depth first. */
async function* exhaust(check: Check): Schedules {
  /** how many choices are left at each depth */
  const left: number[] = [];
  for (;;) {
    let depth = 0;
    await check((count) => {
      const at = depth++;
      left[at] ??= count - 1;
      return count - 1 - left[at];
    });
    yield;
    while (left.at(-1) === 0) left.pop();
    const last = left.pop();
    if (last === undefined) return;
    left.push(last - 1);
  }
}

async function* random(check: Check, seed: number, schedules: number): Schedules {
  const choose = randomChoices(seed);
  for (; schedules > 0; schedules--) yield check(choose);
}

async function mustHold(name: string, schedules: Schedules): Promise<void> {
  let count = 0;
  for await (const _ of schedules) count++;
  console.log(`${name}: ${count} schedules`);
}

/** @param searches take turns, because a mutation shows early in one of them */
async function mustFail(name: string, ...searches: Schedules[]): Promise<void> {
  const left = new Set(searches);
  let count = 0;
  try {
    while (left.size > 0) {
      for (const search of left) {
        count++;
        if ((await search.next()).done) left.delete(search);
      }
    }
  } catch {
    console.log(`Noticed after ${count} schedules: ${name}`);
    return;
  }
  throw new Error(`Not noticed: ${name}`);
}

/**
 * Checks the stores in many schedules, then mutates what they send and get, and expects to notice it. It replaces the
 * clock and the random numbers of this process.
 *
 * @param options.schedules number of random schedules of creations
 * @param options.seed of the random schedules
 * @throws Error with the rules that a schedule broke, or with the mutation that was not noticed
 */
export async function checkSchedules({ schedules, seed, quick }: Options): Promise<void> {
  for (const plan of quick ? smallPlans : [...smallPlans, ...largePlans]) {
    const name = JSON.stringify({ ...plan, creations: plan.creations.length });
    await mustHold(
      `Every order of ${name}`,
      exhaust((choose) => checkPlan(choose, plan)),
    );
  }
  await mustHold("Two to four requests", random(checkAny, seed, schedules));
  await mustHold("Walks while pets are added", random(checkWalk, seed, schedules / 5));
  const strict: Check = (choose) => checkWalk(choose, undefined, true);
  await mustFail("a walk can miss a pet that only some replicas had", random(strict, seed, WALK_SCHEDULES));

  for (const [name, mutation] of Object.entries(creationMutations)) {
    const searches = mutatedPlans.map((plan) => exhaust((choose) => checkPlan(choose, plan, mutation)));
    await mustFail(name, ...searches);
  }
  for (const [name, mutation] of Object.entries(walkMutations))
    await mustFail(
      name,
      random((choose) => checkWalk(choose, mutation), seed, WALK_SCHEDULES),
    );
}
