import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startService } from "../../support/local-service.ts";
import { audit, conclude, load, Observations } from "./load.ts";

/** How long the service can take to acknowledge the pets of a round, in milliseconds. */
const ROUND_TIMEOUT = 60_000;

/** Starts the service on a data folder, and kills it at a random moment, so that the kills find writes at every stage. */
async function killOnce(folder: string, round: number, seen: Observations): Promise<void> {
  await using service = await startService({ DATA_DIR: folder });
  let alive = true;
  const loading = load(service, { prefix: `round-${round}`, seen, goOn: () => alive });
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

/**
 * Kills the whole service under load, again and again on one data folder, and looks for every acknowledged pet.
 *
 * @throws Error when something was wrong
 */
export async function killService(kills: number): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-kill-"));
  const seen = new Observations();
  for (let round = 1; round <= kills; round++) await killOnce(folder.path, round, seen);
  await using service = await startService({ DATA_DIR: folder.path });
  await audit(service, seen);
  if (seen.serverErrors.length > 0) seen.wrong.push(`${seen.serverErrors.length} responses were a 5xx`);
  conclude(seen);
}
