import fc from "fast-check";
import { breakable, creationBreaks, walkBreaks } from "./breaks.ts";
import { checkAny, checkPlan, largePlans, type Plan, smallPlans } from "./creations.ts";
import type { Choose } from "./table-model.ts";
import { checkWalk } from "./walks.ts";

export type Options = Record<"schedules" | "seed", number> & { quick: boolean };

/** Runs one schedule. It must make the same choices when it is offered the same ones. */
type Check = (choose: Choose) => Promise<void>;

// More than six times what the rarest break of a walk needs at any of eight seeds.
const WALK_SCHEDULES = 2000;

/**
 * Makes every sequence of choices once, depth first, until a check fails.
 *
 * @returns how many it made, and the error of the check that failed
 */
async function exhaust(check: Check): Promise<{ schedules: number; error?: unknown }> {
  const path: number[] = [];
  for (let schedules = 1; ; schedules++) {
    let depth = 0;
    try {
      await check((count) => (path[depth++] ??= count - 1));
    } catch (error) {
      return { schedules, error };
    }
    while (path.at(-1) === 0) path.pop();
    const last = path.pop();
    if (last === undefined) return { schedules };
    path.push(last - 1);
  }
}

const random = (check: Check) =>
  fc.asyncProperty(fc.gen(), (generate) => check((count) => generate(fc.nat, { max: count - 1 })));

function describePlan({ crashed, creations, whole = [], crashing = [], budget }: Plan): string {
  const requests = creations.length + whole.length + crashing.length;
  const after = crashed === undefined ? "" : ` ${crashed / 1000} s after a crash`;
  return `${requests} requests${after} with ${JSON.stringify(budget)}`;
}

/** Returns how many schedules of the small plans it takes until one fails, or undefined when none does. */
async function findInPlans(check: (choose: Choose, plan: Plan) => Promise<void>) {
  let sum = 0;
  for (const plan of smallPlans) {
    const { schedules, error } = await exhaust((choose) => check(choose, plan));
    sum += schedules;
    if (error) return sum;
  }
  return undefined;
}

/** Returns how many random schedules it takes until one fails, or undefined when none does. */
async function findAtRandom(check: Check, seed: number) {
  const options = { seed, numRuns: WALK_SCHEDULES, unbiased: true, endOnFailure: true };
  const { failed, numRuns } = await fc.check(random(check), options);
  return failed ? numRuns : undefined;
}

function mustFail(what: "Noticed" | "Refuted", name: string, schedules: number | undefined): void {
  if (schedules === undefined) throw new Error(`Not ${what.toLowerCase()}: ${name}`);
  console.log(`${what} after ${schedules} schedules: ${name}`);
}

/**
 * Checks the stores in many schedules, then breaks them on purpose and expects to notice it. It replaces the clock and the
 * random numbers of this process.
 *
 * @param options.schedules number of random schedules of creations
 * @param options.seed of the random schedules
 * @throws Error with the rules that a schedule broke, or with the break that was not noticed
 */
export async function checkSchedules({ schedules, seed, quick }: Options): Promise<void> {
  for (const plan of quick ? smallPlans : [...smallPlans, ...largePlans]) {
    const { schedules, error } = await exhaust((choose) => checkPlan(choose, plan));
    if (error) throw error;
    console.log(`Every order of ${describePlan(plan)}: ${schedules} schedules`);
  }
  await fc.assert(random(checkAny), { seed, numRuns: schedules, unbiased: true });
  console.log(`Two to four requests: ${schedules} random schedules`);
  await fc.assert(
    random((choose) => checkWalk(choose)),
    { seed, numRuns: schedules / 5, unbiased: true },
  );
  console.log(`Walks while pets are added: ${schedules / 5} random schedules`);
  const strict = await findAtRandom((choose) => checkWalk(choose, true), seed);
  mustFail("Refuted", "A walk finds every pet that a page could show at its start", strict);

  breakable();
  for (const name of Object.keys(creationBreaks)) {
    const broken = await import(`./creations.ts?${name}`);
    mustFail("Noticed", name, await findInPlans(broken.checkPlan));
  }
  for (const name of Object.keys(walkBreaks)) {
    const broken = await import(`./walks.ts?${name}`);
    mustFail("Noticed", name, await findAtRandom((choose) => broken.checkWalk(choose), seed));
  }
}
