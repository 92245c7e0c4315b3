import fc from "fast-check";
import type { Choose } from "./table-model.ts";

/** Returns random choices, the same ones for the same seed. */
export function randomChoices(seed: number): Choose {
  const numbers = fc.infiniteStream(fc.nat(), { noHistory: true });
  const [stream] = fc.sample(numbers, { seed, numRuns: 1, unbiased: true });
  return (count) => (stream?.next().value ?? 0) % count;
}
