/** The upper median. @throws RangeError for no values */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  if (middle === undefined) throw new RangeError("There is no median of no values.");
  return middle;
}

/** Returns the milliseconds of one call, averaged over many calls. */
export async function time(task: () => Promise<unknown>, calls = 1): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < calls; n++) await task();
  return (performance.now() - start) / calls;
}

/**
 * Runs every task once a round, so that other work on the machine affects all tasks equally.
 *
 * @returns the results of each task, in the order of the tasks
 */
export async function interleave<T>(rounds: number, tasks: readonly (() => Promise<T>)[]): Promise<T[][]> {
  const results: T[][] = tasks.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, task] of tasks.entries()) results[index]?.push(await task());
  }
  return results;
}
