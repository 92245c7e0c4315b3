/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]) => quantile(values, 0.5);

/**
 * Runs every task once a round, so that whatever else the machine does meets all of them alike.
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
