import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import dynalite from "dynalite";
import { closeIterators } from "./close-iterators.ts";
import { guarded } from "./guard.ts";
import { returnExistingItems } from "./return-existing-items.ts";
import { writeAtOnce } from "./write-at-once.ts";

// The thread of the embedded store: a DynamoDB-compatible server on 127.0.0.1.

export interface ThreadOptions {
  /** folder of the data; undefined keeps the data in memory */
  path: string | undefined;
  /** the only one whose requests it serves */
  accessKeyId: string;
}

const { path, accessKeyId } = workerData as ThreadOptions;
closeIterators();
returnExistingItems();
writeAtOnce();
const server = dynalite({ createTableMs: 0, ...(path !== undefined && { path }) });
const [listener] = server.listeners("request") as [RequestListener];
server.removeListener("request", listener).on("request", guarded(listener, accessKeyId));
server.listen(0, "127.0.0.1");
await once(server, "listening");
parentPort?.postMessage((server.address() as AddressInfo).port);

// The only message is the request to close.
parentPort?.on("message", () => {
  server.closeAllConnections();
  server.close((error) => process.exit(error ? 1 : 0));
});
