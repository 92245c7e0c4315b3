import fc from "fast-check";
import { checkAny, checkPlan, largePlans, mutatedPlans, type Plan, smallPlans } from "./creations.ts";
import { mutations } from "./mutations.ts";
import type { Choose } from "./world.ts";

/** Runs one schedule. It must make the same choices when it is offered the same ones. */
type Check = (choose: Choose) => Promise<void>;

/** Schedules that run one after the other. The first one whose check fails throws its error. */
type Schedules = AsyncGenerator<void, void>;

// The rarest mutation shows in about one of 1,000 schedules.
const MUTATED_SCHEDULES = 20_000;

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
  const numbers = fc.infiniteStream(fc.nat(), { noHistory: true });
  const [stream] = fc.sample(numbers, { seed, numRuns: 1, unbiased: true });
  for (; schedules > 0; schedules--) yield check((count) => (stream?.next().value ?? 0) % count);
}

async function mustHold(name: string, schedules: Schedules): Promise<void> {
  let count = 0;
  for await (const _ of schedules) count++;
  console.log(`${name}: ${count} schedules`);
}

async function mustFail(name: string, schedules: Schedules): Promise<void> {
  let count = 1;
  try {
    for await (const _ of schedules) count++;
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
 * @param options.schedules number of random schedules
 * @param options.seed of the random schedules
 * @param options.quick whether to leave out the large plans
 * @throws Error with the rules that a schedule broke, or with the mutation that was not noticed
 */
export async function checkSchedules(options: { schedules: number; seed: number; quick: boolean }) {
  for (const plan of options.quick ? smallPlans : [...smallPlans, ...largePlans]) {
    const name = JSON.stringify({ ...plan, creations: plan.creations.length });
    const schedules = exhaust((choose) => checkPlan(choose, plan));
    await mustHold(`Every order of ${name}`, schedules);
  }
  await mustHold("Two to four requests", random(checkAny, options.seed, options.schedules));
  for (const [name, mutation] of Object.entries(mutations)) {
    const check: Check = (choose) =>
      checkPlan(choose, mutatedPlans[choose(mutatedPlans.length)] as Plan, mutation);
    await mustFail(name, random(check, options.seed, MUTATED_SCHEDULES));
  }
}
