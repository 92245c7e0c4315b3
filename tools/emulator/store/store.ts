import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
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
  if (path) await checkFiles(path);
  const accessKeyId = randomBytes(20).toString("hex");
  const server = dynalite({ createTableMs: 0, ...(path && { path }) });
  // dynalite does not say why it cannot open a folder. LevelDB does, also if another process has the folder open.
  await database.open().catch(({ message, cause }: Error & { cause?: Error }) => {
    throw new Error(`The data folder ${path} cannot be opened, see DATA_DIR: ${cause?.message ?? message}`);
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

/** LevelDB takes a folder without CURRENT for an empty one, and deletes the data. It does not miss a log. */
async function checkFiles(path: string): Promise<void> {
  const names = await readdir(path).catch(() => []);
  const has = (file: RegExp) => names.some((name) => file.test(name));
  const lost = has(/^CURRENT$/) ? !has(/\.log$/) && "its .log" : has(/^MANIFEST|\.(ldb|log)$/) && "CURRENT";
  if (lost)
    throw new Error(
      `The data folder ${path} has lost ${lost}: put it back from a copy, or delete the folder.`,
    );
}
