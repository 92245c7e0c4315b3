import { type Break, breakable, breaks } from "./breaks.ts";
import { type Choices, exhaust, seeded } from "./choices.ts";
import { checkAny, checkTwo } from "./creations.ts";
import { checkWalk } from "./walks.ts";
import type { Budget } from "./world.ts";

export type Options = Record<"schedules" | "seed", number> & { quick: boolean };

/** Runs one schedule; returns the rules that it broke. */
type Check = (choices: Choices) => Promise<string[]>;

const QUICK: Partial<Budget>[] = [{ faults: 1 }, { collisions: 1 }, { jumps: 2 }];
const ALL: Partial<Budget>[] = [
  ...QUICK,
  { faults: 1, collisions: 1 },
  { faults: 1, jumps: 2 },
  { faults: 2 },
];
// Enough for every break, at any seed that was tried.
const BREAK_SCHEDULES = 20_000;

async function mustHold(check: Check, choices: Choices, name: string): Promise<void> {
  const broken = await check(choices);
  if (broken.length > 0) throw new Error(`${name}:\n${broken.join("\n")}`);
}

/** Returns after how many random schedules a check fails, or undefined. */
async function failsAfter(check: Check, seed: number): Promise<number | undefined> {
  for (let n = 1; n <= BREAK_SCHEDULES; n++) {
    if ((await check(seeded(seed + n))).length > 0) return n;
  }
  return undefined;
}

async function checkOf({ noticedBy }: Break, index: number): Promise<Check> {
  const { [noticedBy === "walks" ? "checkWalk" : "checkAny"]: check } = await import(
    `./${noticedBy}.ts?break=${index}`
  );
  return check;
}

/**
 * Checks the stores in many schedules, then breaks them on purpose and expects to notice it. It replaces the clock and the
 * random numbers of this process.
 *
 * @param options.schedules number of random schedules of creations
 * @param options.seed of the first random schedule
 * @throws Error with the rules that a schedule broke, or with the break that was not noticed
 */
export async function checkSchedules({ schedules, seed, quick }: Options): Promise<void> {
  for (const budget of quick ? QUICK : ALL) {
    const count = await exhaust((choices) => mustHold((c) => checkTwo(c, budget), choices, "Two callers"));
    console.log(`Two callers, every order with ${JSON.stringify(budget)}: ${count} schedules`);
  }
  for (let n = seed; n < seed + schedules; n++) await mustHold(checkAny, seeded(n), `Seed ${n}`);
  console.log(`Two to four callers: ${schedules} random schedules`);
  for (let n = seed; n < seed + schedules / 5; n++) await mustHold(checkWalk, seeded(n), `Walk, seed ${n}`);
  console.log(`Walks while pets are added: ${schedules / 5} random schedules`);

  breakable();
  for (const [index, fault] of breaks.entries()) {
    const count = await failsAfter(await checkOf(fault, index), seed);
    if (count === undefined) throw new Error(`Not noticed: ${fault.name}`);
    console.log(`Noticed after ${count} schedules: ${fault.name}`);
  }
}
