import type { ThrottleSettings } from "../infra/assembly/template.ts";

/**
 * The token bucket by which API Gateway throttles a stage: it holds `burst` tokens, gains `rate` a second, and
 * every request takes one.
 */
export class Throttle {
  readonly #settings: ThrottleSettings;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** @param now the clock, in milliseconds; one that is never set back */
  constructor(settings: ThrottleSettings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
    this.#tokens = settings.burst;
    this.#filledAt = now();
  }

  /** Takes a token; returns false when there is none, and the request has to be refused. */
  take(): boolean {
    const { rate, burst } = this.#settings;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) * rate) / 1000);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
