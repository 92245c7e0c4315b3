/** Decides everything that a schedule leaves open. */
export interface Choices {
  /** Returns an integer from 0 to count - 1. */
  pick(count: number): number;
}

/** Makes the same choices for the same seed (mulberry32). */
export function seeded(seed: number): Choices {
  let state = seed;
  return {
    pick(count) {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * count);
    },
  };
}

/**
 * Makes every sequence of choices once, depth first.
 *
 * @param run one schedule; it must make the same choices when it is offered the same ones
 * @returns how many schedules there are
 */
export async function exhaust(run: (choices: Choices) => Promise<void>): Promise<number> {
  const path: { picked: number; count: number }[] = [];
  for (let schedules = 1; ; schedules++) {
    let depth = 0;
    await run({
      pick(count) {
        path[depth] ??= { picked: 0, count };
        return path[depth++]?.picked ?? 0;
      },
    });
    path.length = depth;
    while (path.length > 0 && path.at(-1)?.picked === (path.at(-1)?.count ?? 0) - 1) path.pop();
    const last = path.at(-1);
    if (!last) return schedules;
    last.picked++;
  }
}
