import { setTimeout } from "node:timers/promises";

const PAUSE_MS = 250;

/**
 * Repeats an attempt until its result passes a check, for example until the list shows a new pet.
 *
 * @param check throws as long as the result is not the expected one
 * @param seconds how long to try, but the last attempt to its end
 * @returns the result that passed
 * @throws what the last check threw
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  check: (value: T) => void,
  { seconds = 20 } = {},
): Promise<T> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const value = await attempt();
    try {
      check(value);
      return value;
    } catch (error) {
      if (performance.now() > end) throw error;
      await setTimeout(PAUSE_MS);
    }
  }
}
