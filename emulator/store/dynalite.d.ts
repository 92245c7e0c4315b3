declare module "dynalite" {
  import type { Server } from "node:http";

  /** @returns a server whose `close` closes the store as well */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}
