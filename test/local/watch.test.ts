import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import { watchFolders } from "../../local/watch.ts";

let folder: string;
let changes: AsyncIterator<[AbortSignal]>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-watch-"));
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
  changes = watchFolders([folder])[Symbol.asyncIterator]();
});
afterEach(async () => {
  jest.useRealTimers();
  await rm(folder, { recursive: true });
});

const save = (name: string, text = "") => writeFile(join(folder, name), text);
const next = async () => (await changes.next()).value[0] as AbortSignal;

it("reports no change of other files, and one of a source in a new folder", async () => {
  const found = jest.fn();
  void changes.next().then(found);
  for (const name of [".x.ts.swp", "x.ts~"]) await save(name);
  await mkdir(join(folder, "new"));
  await jest.advanceTimersByTimeAsync(1000);
  expect(found).not.toHaveBeenCalled();
  await save("new/x.ts");
  await jest.advanceTimersByTimeAsync(1000);
  expect(found).toHaveBeenCalledTimes(1);
});

it("reports changes in quick succession as one, also early ones, and aborts the one before", async () => {
  /** Writes each 100 ms, and then pauses. */
  const saveSlowly = async (text: string) => {
    for (let size = 1; size <= text.length; size++) {
      await save("x.ts", text.slice(0, size));
      await jest.advanceTimersByTimeAsync(100);
    }
    await jest.advanceTimersByTimeAsync(1000);
  };
  await saveSlowly("first");
  const first = await next();
  expect(first.aborted).toBe(false);
  await saveSlowly("second");
  await saveSlowly("third one");
  expect(first.aborted).toBe(true);
  for (const isAborted of [true, false]) expect((await next()).aborted).toBe(isAborted);
});
