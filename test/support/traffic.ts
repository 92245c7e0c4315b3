import type { operations } from "../../lib/operations.ts";

/** The traffic of docs/operations.md: the share of the requests that each operation gets. */
export const SHARES: Record<(typeof operations)[number]["id"], number> = {
  listPets: 0.8,
  createPet: 0.15,
  getPet: 0.05,
};

/** The keys in use, each of which API Gateway caches. */
export const KEYS = 10;
