/** The upper median. @throws RangeError for no values */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  if (middle === undefined) throw new RangeError("There is no median of no values.");
  return middle;
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
