import fc from "fast-check";
import { checkAny, checkPlan, largePlans, mutatedPlans, type Plan, smallPlans } from "./creations.ts";
import { mutations } from "./mutations.ts";
import type { Choose } from "./world.ts";

/** Runs one schedule. It must make the same choices when it is offered the same ones. */
type Check = (choose: Choose) => Promise<void>;

// The rarest mutation shows in about one of 1,000 schedules.
const MUTATED_SCHEDULES = 20_000;

/** Makes every sequence of choices once, depth first. */
async function* exhaust(check: Check) {
  /** how many choices are left at each depth */
  const left: number[] = [];
  for (;;) {
    let depth = 0;
    yield check((count) => {
      const at = depth++;
      left[at] ??= count - 1;
      return count - 1 - left[at];
    });
    while (left.at(-1) === 0) left.pop();
    const last = left.pop();
    if (last === undefined) return;
    left.push(last - 1);
  }
}

async function* random(check: Check, seed: number, schedules: number) {
  const numbers = fc.infiniteStream(fc.nat(), { noHistory: true });
  const [stream] = fc.sample(numbers, { seed, numRuns: 1, unbiased: true });
  for (; schedules > 0; schedules--) yield check((count) => (stream?.next().value ?? 0) % count);
}

/** Runs schedules one after the other. Returns how many ran, and the error of one that did not hold. */
async function run(schedules: AsyncGenerator<void>): Promise<{ count: number; error?: unknown }> {
  let count = 0;
  try {
    for await (const _ of schedules) count++;
    return { count };
  } catch (error) {
    return { count: count + 1, error };
  }
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
  const { schedules, seed, quick } = options;
  const searches = (quick ? smallPlans : [...smallPlans, ...largePlans]).map((plan) => ({
    name: `Every order of ${JSON.stringify({ ...plan, creations: plan.creations.length })}`,
    search: exhaust((choose) => checkPlan(choose, plan)),
  }));
  searches.push({ name: "Two to four requests", search: random(checkAny, seed, schedules) });
  for (const { name, search } of searches) {
    const { count, error } = await run(search);
    if (error) throw error;
    console.log(`${name}: ${count} schedules`);
  }
  for (const [name, mutation] of Object.entries(mutations)) {
    const check: Check = (choose) =>
      checkPlan(choose, mutatedPlans[choose(mutatedPlans.length)] as Plan, mutation);
    const { count, error } = await run(random(check, seed, MUTATED_SCHEDULES));
    if (!error) throw new Error(`Not noticed: ${name}`);
    console.log(`Noticed after ${count} schedules: ${name}`);
  }
}
