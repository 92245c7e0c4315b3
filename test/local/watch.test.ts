import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";

/** What each watched folder calls. */
const watched = new Map<string, () => void>();
/** The subfolders of each folder. */
const names = ["sub"];
jest.unstable_mockModule("node:fs", () => ({
  readdirSync: (parentPath: string) => names.map((name) => ({ parentPath, name, isDirectory: () => true })),
  watch: (folder: string, listener: () => void) => {
    watched.set(folder, listener);
    return { close: () => undefined };
  },
}));
const { watchFolders } = await import("../../local/watch.ts");

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it("returns changes in quick succession as one, also those before it is asked, aborts the one before, and watches new folders", async () => {
  const changes = watchFolders(["a", "b"])[Symbol.asyncIterator]();
  expect([...watched.keys()]).toEqual(["a", "a/sub", "b", "b/sub"]);
  /** A change in each folder, 10 ms apart, and then a pause. */
  const save = () => {
    for (const listener of [...watched.values()]) {
      listener();
      jest.advanceTimersByTime(10);
    }
    jest.advanceTimersByTime(1000);
  };
  names.push("new");
  const next = async () => (await changes.next()).value[0] as AbortSignal;
  save();
  const first = await next();
  expect(first.aborted).toBe(false);
  expect([...watched.keys()]).toContain("a/new");
  save();
  save();
  expect(first.aborted).toBe(true);
  expect([await next(), await next()].map(({ aborted }) => aborted)).toEqual([true, false]);
});
