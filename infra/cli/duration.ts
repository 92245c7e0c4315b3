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
