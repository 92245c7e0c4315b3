import type { Scope } from "../../../lib/api-key.ts";
import type { Pet, PetStatus } from "../../../lib/pet.ts";

/** An API key of the run. */
export interface Key {
  secret: string;
  scopes: readonly Scope[];
  /** undefined for the key that the run does not revoke */
  keyId?: string;
  revoked?: boolean;
  /** API Gateway caches a key that was used, so it can keep working for 60 s after it is revoked */
  used?: boolean;
}

/** Pages that a client follows, and what it must find. */
export interface Walk {
  status: PetStatus | undefined;
  limit: number;
  /** path of the next page; undefined after the last one */
  next: string | undefined;
  /** the run's pets that were listed when the walk began, unchanged since (contract 2.8) */
  expected: Pet[];
  found: Pet[];
}

/** What the contract says about the pets, keys and walks of one run. Others can use the same service at the same time. */
export interface Model {
  /** when the run began, in milliseconds since 1970 */
  start: number;
  pets: Pet[];
  walks: Walk[];
  /** the first one has both scopes and is never revoked */
  keys: Key[];
}

/** Returns the statuses that a request can get (contract 6.2 and 6.3), and `success` for a valid key. */
export function statuses(key: Key, scope: Scope, success: number): number[] {
  const valid = key.scopes.includes(scope) ? success : 403;
  if (!key.revoked) return [valid];
  return key.used ? [valid, 401] : [401];
}
