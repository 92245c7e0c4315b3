import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import dynalite from "dynalite";
import db from "dynalite/db/index.js";
import { closeIterators } from "./close-iterators.ts";
import { guarded } from "./guard.ts";
import { returnExistingItems } from "./return-existing-items.ts";

export type Store = Awaited<ReturnType<typeof startStore>>;

closeIterators();
returnExistingItems();

// dynalite does not expose its database.
let database: ReturnType<typeof db.create>["db"];
const { create } = db;
db.create = (options) => {
  const created = create(options);
  database = created.db;
  return created;
};

/**
 * Starts a DynamoDB-compatible server on 127.0.0.1 and a free port.
 *
 * @param path folder of the data, created when missing; without a path the data is kept in memory
 * @throws Error in one line when the folder is broken or not writable, or another process has it open
 */
export async function startStore(path?: string) {
  const lost = path && (await findLoss(path));
  const accessKeyId = randomBytes(20).toString("hex");
  const server = dynalite({ createTableMs: 0, ...(path && { path }) });
  // With these options LevelDB opens nothing, but sees if another service has the folder, and can still be making its files.
  await database.open(lost ? { createIfMissing: false, errorIfExists: true } : {}).catch(({ cause }) => {
    const reason = cause.code === "LEVEL_LOCKED" ? "another service uses it." : lost || cause.message;
    throw new Error(`The data folder ${path} cannot be opened, see DATA_DIR: ${reason}`);
  });
  const [listener] = server.listeners("request") as [RequestListener];
  server.removeListener("request", listener).on("request", guarded(listener, accessKeyId));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    /** URL of its DynamoDB API */
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** a secret: the store serves only requests with it */
    accessKeyId,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** LevelDB takes a folder without CURRENT for an empty one, and deletes the data, and a log that it cannot read. */
async function findLoss(path: string): Promise<string | undefined> {
  const names = await readdir(path).catch(() => []);
  if (!names.some((name) => /^CURRENT$|^MANIFEST|\.(ldb|log)$/.test(name))) return;
  const logs = names.filter((name) => name.endsWith(".log"));
  for (const name of ["CURRENT", ...(logs.length > 0 ? logs : [".log"])])
    if (!(await readFile(join(path, name)).catch(() => undefined)))
      return `it has no readable ${name}: put it back from a copy, or delete the folder.`;
}
