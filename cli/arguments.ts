import { InvalidArgumentError } from "commander";
import { stageNamed } from "../infra/stages.ts";
import { apiKeyPattern, hashApiKey, isScope, keyIdOf, type Scope, scopes } from "../lib/api-key.ts";
import { parseInt64 } from "../lib/int64.ts";
import { API_VERSION } from "../lib/operation.ts";
import { escapeControls } from "./escape-controls.ts";

// What the options and arguments of the commands can be. Each function throws an InvalidArgumentError, which commander
// reports.

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** The longest duration, in days. */
export const LONGEST_DAYS = 36_525;

/** Reads a whole number and a unit, such as 45s, 30m, 24h or 90d. @returns milliseconds, at most LONGEST_DAYS */
export function parseDuration(text: string): number {
  const match = /^(\d+)([smhd])$/.exec(text);
  if (!match) throw new InvalidArgumentError("Use a whole number and a unit, such as 30m, 24h or 90d.");
  const milliseconds = Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
  if (milliseconds > LONGEST_DAYS * UNITS.d) throw new InvalidArgumentError(`Use at most ${LONGEST_DAYS}d.`);
  return milliseconds;
}

/** Reads a duration longer than zero, as parseDuration does. */
export function parseLifetime(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === 0) throw new InvalidArgumentError("Use a duration longer than zero.");
  return milliseconds;
}

/** The longest name of an owner, in characters. */
export const LONGEST_OWNER = 100;

const pastedKey = new RegExp(apiKeyPattern);

/** Reads the name of a key's owner. */
export function parseOwner(text: string): string {
  // The list shows an owner as it was typed, and something of it can be seen.
  const visible = /[^\s\p{Default_Ignorable_Code_Point}]/u.test(text);
  if (!visible || escapeControls(text) !== text || [...text].length > LONGEST_OWNER)
    throw new InvalidArgumentError(`Use 1 to ${LONGEST_OWNER} printable characters.`);
  // The owner is stored and listed in plain text.
  if (pastedKey.test(text)) throw new InvalidArgumentError("An owner must not contain an API key.");
  return text;
}

/** Reads a key ID. The error for a pasted API key names its ID and never the key. */
export function parseKeyId(text: string): string {
  const [key] = pastedKey.exec(text) ?? [];
  if (key) throw new InvalidArgumentError(`That is an API key. Use its key ID: ${keyIdOf(hashApiKey(key))}.`);
  if (!/^key_[0-9a-f]{16}$/.test(text))
    throw new InvalidArgumentError("Use a key ID, such as key_94a9db21d2a2b24b.");
  return text;
}

/** Reads the id of a pet, and adds it to those of earlier arguments. */
export function parsePetIds(text: string, earlier: bigint[] = []): bigint[] {
  const id = parseInt64(text);
  if (id === undefined) throw new InvalidArgumentError("Use the id of a pet, such as 114677519594330.");
  return [...earlier, id];
}

/** Reads the name of a stage, also of a personal one. */
export function parseStage(text: string): string {
  try {
    return stageNamed(text).name;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Reads the base URL of a service. @returns it without a slash at its end */
export function parseBaseUrl(text: string): string {
  const url = text.replace(/\/$/, "");
  if (URL.canParse(url) && new RegExp(`^https?://[^/?#]+[^?#]*/${API_VERSION}$`).test(url)) return url;
  throw new InvalidArgumentError(
    `Use a URL that ends in /${API_VERSION}, such as the output BaseUrl of a stack.`,
  );
}

/** Reads scopes separated by commas, and adds them to those of earlier options. */
export function parseScopes(text: string, earlier: Scope[] = []): Scope[] {
  const all = text.split(",").map((scope) => scope.trim());
  if (!all.every(isScope)) throw new InvalidArgumentError(`Use one or more of ${scopes.join(",")}.`);
  return [...new Set([...earlier, ...all])];
}
