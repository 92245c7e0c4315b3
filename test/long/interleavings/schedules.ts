import fc from "fast-check";
import { breakable, creationBreaks, walkBreaks } from "./breaks.ts";
import { checkAny, checkTwo } from "./creations.ts";
import { checkWalk } from "./walks.ts";
import type { Budget, Choose } from "./world.ts";

export type Options = Record<"schedules" | "seed", number> & { quick: boolean };

/** Runs one schedule. It must make the same choices when it is offered the same ones. */
type Check = (choose: Choose) => Promise<void>;

const QUICK: Budget[] = [{ faults: 1 }, { collisions: 1 }, { jumps: 2 }];
const ALL: Budget[] = [...QUICK, { faults: 1, collisions: 1 }, { faults: 1, jumps: 2 }, { faults: 2 }];
// More than four times what the rarest break needs at any seed that was tried.
const BREAK_SCHEDULES = 100_000;

/** Makes every sequence of choices once, depth first; returns how many there are. */
async function exhaust(check: Check): Promise<number> {
  const path: number[] = [];
  for (let schedules = 1; ; schedules++) {
    let depth = 0;
    await check((count) => (path[depth++] ??= count - 1));
    while (path.at(-1) === 0) path.pop();
    const last = path.pop();
    if (last === undefined) return schedules;
    path.push(last - 1);
  }
}

const random = (check: Check) =>
  fc.asyncProperty(fc.gen(), (generate) => check((count) => generate(fc.nat, { max: count - 1 })));

async function mustNotice(name: string, brokenCheck: Check, seed: number): Promise<void> {
  const options = { seed, numRuns: BREAK_SCHEDULES, unbiased: true, endOnFailure: true };
  const { failed, numRuns } = await fc.check(random(brokenCheck), options);
  if (!failed) throw new Error(`Not noticed: ${name}`);
  console.log(`Noticed after ${numRuns} schedules: ${name}`);
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
  for (const budget of quick ? QUICK : ALL) {
    const count = await exhaust((choose) => checkTwo(choose, budget));
    console.log(`Two callers, every order with ${JSON.stringify(budget)}: ${count} schedules`);
  }
  await fc.assert(random(checkAny), { seed, numRuns: schedules, unbiased: true });
  console.log(`Two to four callers: ${schedules} random schedules`);
  await fc.assert(random(checkWalk), { seed, numRuns: schedules / 5, unbiased: true });
  console.log(`Walks while pets are added: ${schedules / 5} random schedules`);

  breakable();
  for (const name of Object.keys(creationBreaks))
    await mustNotice(name, (await import(`./creations.ts?${name}`)).checkAny, seed);
  for (const name of Object.keys(walkBreaks))
    await mustNotice(name, (await import(`./walks.ts?${name}`)).checkWalk, seed);
}
