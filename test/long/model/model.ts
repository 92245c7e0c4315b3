import type { Pet, PetStatus } from "../../../lib/pet.ts";

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

/** What the contract says about the pets and walks of one run. Others can use the same service at the same time. */
export interface Model {
  /** when the run began, in milliseconds since 1970 */
  start: number;
  pets: Pet[];
  walks: Walk[];
}
