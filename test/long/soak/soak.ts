import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as readInput } from "node:timers/promises";
import { PAGE_SIZE } from "../../../lib/limits.ts";
import { eventually } from "../../support/eventually.ts";
import { disconnect, send } from "../../support/http.ts";
import type { Command } from "../../support/instrument.ts";
import { type LocalService, startService } from "../../support/local-service.ts";

const CLIENTS = 16;
/** MiB that a thread can grow by. A leak of 1 KiB for each of 20,000 lists is 20 MiB. */
const MAX_GROWTH_MIB = 4;
const instrument = ["--import", join(import.meta.dirname, "../../support/instrument.ts")];

/** What the clients saw. */
interface Observations {
  /** the name of every acknowledged pet, by its id */
  acknowledged: Map<number, string>;
  /** what must not happen, described */
  wrong: string[];
}

/** Adds and lists pets until `goOn` returns false. Only then is a request without a response right. */
async function load({ baseUrl, key }: LocalService, seen: Observations, goOn: () => boolean): Promise<void> {
  const { acknowledged, wrong } = seen;
  async function client(): Promise<void> {
    while (goOn()) {
      const name = crypto.randomUUID();
      const creation = { method: "POST", path: "/pets", body: JSON.stringify({ name, categoryId: 1 }) };
      try {
        const adds = Math.random() < 0.5;
        const { status, text } = await send(baseUrl, {
          key,
          ...(adds ? creation : { path: "/pets?limit=1" }),
        });
        if (status !== (adds ? 201 : 200) && status !== 503)
          wrong.push(`${adds ? "a creation" : "a list"}: ${status} ${text}`);
        if (status === 201) acknowledged.set(JSON.parse(text).id, name);
      } catch (error) {
        await readInput(); // what the service printed last
        if (goOn()) wrong.push(`no response: ${(error as Error).message}`);
      }
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client));
  disconnect();
}

/** Reads the whole list. Each acknowledged pet must be in it once. */
async function audit({ baseUrl, key }: LocalService, { acknowledged, wrong }: Observations): Promise<void> {
  const found = new Map<number, string>();
  for (let path = `/pets?limit=${PAGE_SIZE.maximum}`; path; ) {
    const { status, text, headers } = await send(baseUrl, { path, key });
    if (status !== 200) throw new Error(`The list responds with ${status}: ${text}`);
    for (const { id, name } of JSON.parse(text) as { id: number; name: string }[]) {
      if (found.has(id)) wrong.push(`${id} is listed twice`);
      found.set(id, name);
    }
    path = /^<[^>]*\/v1([^>]*)>/.exec(headers.get("link") ?? "")?.[1] ?? "";
  }
  disconnect();
  for (const [id, name] of acknowledged) if (found.get(id) !== name) wrong.push(`${name} (${id}) is lost`);
  if (new Set(found.values()).size !== found.size) wrong.push("a pet was added twice");
  console.log(`${acknowledged.size} pets were acknowledged, ${found.size} are in the list`);
}

/** Kills the whole service under load, again and again on one data folder. The last start must have every pet. */
async function killService(rounds: number, seen: Observations): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-kill-"));
  for (let round = 1; round <= rounds; round++) {
    await using service = await startService({ DATA_DIR: folder.path }, instrument);
    let alive = true;
    const loading = load(service, seen, () => alive);
    // A random number, so that the kills find writes at every stage.
    const enough = seen.acknowledged.size + 1 + Math.random() * 200;
    service.process.send("end functions" satisfies Command);
    await eventually(
      () => seen.acknowledged.size,
      (size) => assert.ok(size >= enough, `${size} pets are acknowledged, and not ${enough}`),
      { seconds: 60 },
    );
    alive = false;
    const status = await service.stop("SIGKILL");
    if (status !== null) seen.wrong.push(`the service ended by itself with ${status}`);
    await loading;
  }
  await using service = await startService({ DATA_DIR: folder.path });
  await audit(service, seen);
}

/** Reads pages, and compares the memory of each thread before and after. */
async function growth(lists: number, seen: Observations): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-lists-"));
  await using service = await startService({ DATA_DIR: folder.path }, instrument);
  const { process: child } = service;
  const measure = async (): Promise<Record<string, number>> => {
    child.send("measure" satisfies Command);
    return (await once(child, "message"))[0];
  };
  await load(service, seen, () => seen.acknowledged.size < 500);
  const { baseUrl, key } = service;
  const list = async (total: number) => {
    for (let sent = 0; sent < total; sent++) {
      const { status } = await send(baseUrl, { key, path: `/pets?limit=${1 + (sent % 20)}` });
      if (status !== 200) seen.wrong.push(`a list: ${status}`);
    }
  };
  await list(2000);
  const before = await measure();
  await list(lists);
  for (const [thread, used] of Object.entries(await measure())) {
    const grown = used - (before[thread] ?? used);
    console.log(`thread ${thread} uses ${used.toFixed(1)} MiB, ${grown.toFixed(1)} more than before`);
    if (grown > MAX_GROWTH_MIB) seen.wrong.push(`thread ${thread} grew by ${grown} MiB`);
  }
}

/**
 * Runs both parts, as the command's description says.
 *
 * @throws Error when something was wrong
 */
export async function soak(options: { kills: number; lists: number }): Promise<void> {
  for (const [part, count] of [
    [killService, options.kills],
    [growth, options.lists],
  ] as const) {
    const seen: Observations = { acknowledged: new Map(), wrong: [] };
    await part(count, seen);
    for (const fault of seen.wrong.slice(0, 20)) console.error(`WRONG: ${fault}`);
    if (seen.wrong.length > 0) throw new Error(`failed: ${seen.wrong.length}`);
  }
  console.log("passed");
}
