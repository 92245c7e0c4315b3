declare module "dynalite" {
  import type { Server } from "node:http";

  /** @returns a server whose `close` closes the store as well */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}

declare module "dynalite/validations/*" {
  const validation: { types: Record<string, { type: string; enum?: string[] }> };
  export default validation;
}

declare module "dynalite/db/index.js" {
  type ConditionFailure = { body: Record<string, unknown> } | null | undefined;

  /** The functions that the operations share, which they call as members of this object. */
  const db: {
    create(options: object): { db: { open(options: object): Promise<void> } };
    checkConditional(data: Record<string, unknown>, item: object | undefined): ConditionFailure;
  };
  export default db;
}
