import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startService } from "../support/local-service.ts";
import { audit, emptySeen, load } from "./load.ts";

/**
 * `npm run test:kill -- [kills]`: kills the whole local service under load, again and again on one data folder
 * with the embedded store. It fails when an animal that was acknowledged is not in the list exactly once.
 */
const kills = Number(process.argv[2] ?? 20);

const folder = await mkdtemp(join(tmpdir(), "animal-store-kill-"));
const seen = emptySeen();
const wrong: string[] = [];

for (let round = 1; round <= kills; round++) {
  const service = await startService({ DATA_DIR: folder });
  let alive = true;
  const loading = load(service, 16, `round-${round}`, seen, () => alive);
  // Its functions are at work, and the kill finds writes at every stage, since it comes at no particular time.
  const enough = seen.acknowledged.size + 1 + Math.random() * 200;
  while (seen.acknowledged.size < enough) await pause(5);
  await service.stop("SIGKILL");
  alive = false;
  await loading;
  console.log(`kill ${round}: ${seen.acknowledged.size} animals acknowledged so far`);
}

const service = await startService({ DATA_DIR: folder });
wrong.push(...seen.wrong, ...(await audit(service, seen)));
await service.stop();
await rm(folder, { recursive: true });
for (const [what, count] of [...seen.counts].sort()) console.log(`${what}: ${count}`);
for (const each of wrong.slice(0, 20)) console.error(`WRONG: ${each}`);
console.log(wrong.length === 0 ? "passed" : `failed: ${wrong.length}`);
process.exit(wrong.length === 0 ? 0 : 1);
