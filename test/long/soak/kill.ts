import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startService } from "../../support/local-service.ts";
import { audit, load, noObservations } from "./load.ts";

const USAGE = `Usage: npm run test:kill -- [kills]
Kills the local service under load, again and again, on one data folder with the embedded store (default 20 times).
Fails when an acknowledged pet is not in the list exactly once, and on any 5xx.`;

/** How long the service can take to acknowledge the pets of a round, in milliseconds. */
const ROUND_TIMEOUT = 60_000;

const kills = Number(process.argv[2] ?? 20);
if (!(kills >= 1)) {
  console.log(USAGE);
  process.exit(process.argv[2] === "--help" ? 0 : 2);
}

const folder = await mkdtemp(join(tmpdir(), "animal-store-kill-"));
const seen = noObservations();

for (let round = 1; round <= kills; round++) {
  const service = await startService({ DATA_DIR: folder });
  let alive = true;
  const loading = load(service, { connections: 16, prefix: `round-${round}`, seen, goOn: () => alive });
  // At a random moment, so that the kills find writes at every stage.
  const enough = seen.acknowledged.size + 1 + Math.random() * 200;
  const deadline = Date.now() + ROUND_TIMEOUT;
  while (seen.acknowledged.size < enough && Date.now() < deadline) await pause(5);
  if (seen.acknowledged.size < enough) seen.wrong.push(`round ${round} timed out`);
  const status = await service.stop("SIGKILL");
  if (status !== null) seen.wrong.push(`the service of round ${round} ended by itself with ${status}`);
  alive = false;
  await loading;
  console.log(`kill ${round}: ${seen.acknowledged.size} pets acknowledged so far`);
}

const service = await startService({ DATA_DIR: folder });
const wrong = [...seen.wrong, ...(await audit(service, seen))];
if (seen.serverErrors.length > 0) wrong.push(`${seen.serverErrors.length} responses were a 5xx`);
await service.stop();
await rm(folder, { recursive: true });
for (const [what, count] of [...seen.counts].sort()) console.log(`${what}: ${count}`);
for (const fault of wrong.slice(0, 20)) console.error(`WRONG: ${fault}`);
console.log(wrong.length === 0 ? "passed" : `failed: ${wrong.length}`);
process.exit(wrong.length === 0 ? 0 : 1);
