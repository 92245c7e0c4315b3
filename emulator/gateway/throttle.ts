import type { StackDefinition } from "../template/template.ts";

/**
 * The token bucket that API Gateway throttles a stage with: `burst` tokens at most, `rate` new ones a second.
 *
 * @param now a monotonic clock, in milliseconds
 * @returns takes a token for a request; returns false when there is none
 */
export function createThrottle(
  { rate, burst }: StackDefinition["throttling"],
  now = () => performance.now(),
): () => boolean {
  let tokens = burst;
  let filledAt = now();
  return () => {
    const time = now();
    tokens = Math.min(burst, tokens + ((time - filledAt) * rate) / 1000);
    filledAt = time;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
