import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";

type Listener = (type: string, name: string | null) => void;
/** What each watched folder calls. */
const watched = new Map<string, Listener>();
/** The subfolders of each folder, and those that have just disappeared. */
let names: string[];
/** how many watchers are open */
let open: number;
const fail = (code: string) => Object.assign(new Error(`${code}: watch`), { code });
jest.unstable_mockModule("node:fs", () => ({
  realpathSync: (folder: string) => {
    if (folder.endsWith("gone")) throw fail("ENOENT");
    return folder;
  },
  statSync: () => ({ isDirectory: () => true }),
  existsSync: () => true,
  readdirSync: (folder: string) => (folder.length > 1 ? [] : names),
  watch: (folder: string, listener: Listener) => {
    if (folder.endsWith("gone")) throw fail("ENOENT");
    if (folder.endsWith("one too many")) throw fail("ENOSPC");
    watched.set(folder, listener);
    open++;
    return { close: () => void open-- };
  },
}));
const { watchFolders } = await import("../../local/watch.ts");

beforeEach(() => {
  jest.useFakeTimers();
  watched.clear();
  names = ["sub", "gone"];
  open = 0;
});
afterEach(() => void jest.useRealTimers());

it("returns no change of a file that is no source, and one of a new folder, which can have sources", async () => {
  const changes = watchFolders(["a"])[Symbol.asyncIterator]();
  let found = 0;
  void changes.next().then(() => found++);
  const save = async (name: string | null) => {
    watched.get("a")?.("rename", name);
    await jest.advanceTimersByTimeAsync(1000);
    return found;
  };
  expect([await save(".x.ts.swp"), await save("x.ts~")]).toEqual([0, 0]);
  names.push("other");
  expect(await save("other")).toBe(1);
});

it("returns changes in quick succession as one, also those before it is asked, aborts the one before, and watches new folders", async () => {
  const changes = watchFolders(["a", "b"])[Symbol.asyncIterator]();
  expect([...watched.keys()]).toEqual(["a", "a/sub", "b", "b/sub"]);
  /** A change in each folder, 10 ms apart, and then a pause. */
  const save = () => {
    for (const listener of [...watched.values()]) {
      listener("change", "x.ts");
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
  expect(open).toBe(watched.size);
});

it("throws when the system watches no more folders", () => {
  names.push("one too many");
  expect(() => watchFolders(["a"])).toThrow("ENOSPC");
});
