import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";

const changed: (() => void)[] = [];
jest.unstable_mockModule("node:fs", () => ({
  watch: (_folder: string, { recursive }: { recursive: boolean }, listener: () => void) =>
    recursive && changed.push(listener),
}));
const { watchFolders } = await import("../../../local/watch.ts");

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it("calls once for changes in quick succession, one call after the other, and aborts the one before", async () => {
  const calls: { signal: AbortSignal; done: () => void }[] = [];
  watchFolders(["a", "b"], (signal) => new Promise((done) => calls.push({ signal, done })));
  /** A change in each folder, 10 ms apart, and then a pause. */
  const save = async () => {
    for (const listener of changed) {
      listener();
      await jest.advanceTimersByTimeAsync(10);
    }
    await jest.advanceTimersByTimeAsync(1000);
  };
  await save();
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([false]);
  await save();
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true]);
  calls[0]?.done();
  await jest.advanceTimersByTimeAsync(0);
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});
