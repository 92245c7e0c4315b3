import { InvalidArgumentError } from "commander";
import { isScope, type Scope, scopes } from "../lib/api-key.ts";

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads a duration as operators write it.
 *
 * @param text a whole number and a unit: 45s, 30m, 24h or 90d
 * @returns milliseconds, or undefined when the text is none or is longer than 100 years
 */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,10})([smhd])$/.exec(text) ?? [];
  if (!amount || !unit) return undefined;
  const duration = Number(amount) * UNITS[unit as keyof typeof UNITS];
  return duration <= 36_525 * UNITS.d ? duration : undefined;
}

/** A duration in milliseconds; commander reports what is none. */
export function duration(text: string): number {
  const parsed = parseDuration(text);
  if (parsed === undefined)
    throw new InvalidArgumentError("Use a whole number and a unit, such as 30m, 24h or 90d.");
  return parsed;
}

/** A duration that is longer than nothing. */
export function lifetime(text: string): number {
  const parsed = duration(text);
  if (parsed === 0) throw new InvalidArgumentError("A key must live for some time.");
  return parsed;
}

/** The name of who a key is for. */
export function keyName(text: string): string {
  // Control characters would garble the list on a terminal.
  if (!/^\P{C}{1,100}$/u.test(text) || text.trim() === "") {
    throw new InvalidArgumentError("Use 1 to 100 printable characters.");
  }
  return text;
}

/** Scopes, separated by commas. */
export function scopeList(text: string): Scope[] {
  const all = text.split(",").map((scope) => scope.trim());
  if (!all.every(isScope)) throw new InvalidArgumentError(`Use one or more of ${scopes.join(",")}.`);
  return [...new Set(all)];
}
