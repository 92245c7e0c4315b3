import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { DataInUse, startStore } from "../../../local/store/store.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-store-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("startStore", () => {
  it("opens a folder for one of several callers at the same moment, and throws DataInUse for the others", async () => {
    for (let round = 0; round < 5; round++) {
      const path = join(folder, String(round));
      const attempts: ReturnType<typeof startStore>[] = [];
      // One call starts at every turn of the event loop, so that calls overlap with every step of the first.
      for (let n = 0; n < 40; n++) {
        attempts.push(startStore(path));
        attempts.at(-1)?.catch(() => undefined);
        await turn();
      }
      const results = await Promise.allSettled(attempts);
      const started = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      for (const store of started) await store.close().catch(() => undefined);
      expect(started).toHaveLength(1);
      for (const reason of reasons) expect(reason).toBeInstanceOf(DataInUse);
    }
  });

  it("releases the folder when it closes", async () => {
    for (let round = 0; round < 3; round++) {
      const store = await startStore(folder);
      await expect(startStore(folder)).rejects.toThrow(DataInUse);
      await store.close();
    }
  });
});
