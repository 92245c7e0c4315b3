import type { RestApiDefinition } from "../../infra/assembly/rest-api.ts";

type Settings = RestApiDefinition["throttling"];

/** The token bucket that API Gateway throttles a stage with: `burst` tokens at most, `rate` new ones a second. */
export class Throttle {
  readonly #settings: Settings;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** @param now a monotonic clock, in milliseconds */
  constructor(settings: Settings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
    this.#tokens = settings.burst;
    this.#filledAt = now();
  }

  /** Takes a token for a request; returns false when there is none. */
  tryAcquire(): boolean {
    const { rate, burst } = this.#settings;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) * rate) / 1000);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
