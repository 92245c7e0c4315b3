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
  type Item = object | null | undefined;
  type Table = { TableName: string; GlobalSecondaryIndexes?: object[] };
  export type IndexEntry = { index: string; key: string; item?: object };
  type Done = (error?: Error | null) => void;

  /** The functions that the operations share, which they call as members of this object. */
  const db: {
    checkConditional(data: Record<string, unknown>, item: object | undefined): ConditionFailure;
    createKey(item: object, table: Table): string;
    getIndexActions(
      indexes: object[],
      existing: Item,
      item: Item,
      table: Table,
    ): Record<"puts" | "deletes", IndexEntry[]>;
    updateIndexes(
      store: { db: { batch(operations: object[], done: Done): void } },
      table: Table,
      existing: Item,
      item: Item,
      done: Done,
    ): void;
  };
  export default db;
}
