import { afterEach, expect, it, jest } from "@jest/globals";
import { warmUp } from "../../../lib/warm-up.ts";

afterEach(() => {
  jest.restoreAllMocks();
});

it("waits for the read, for 300 ms at most", async () => {
  const { signal } = new AbortController();
  const timeout = jest.spyOn(AbortSignal, "timeout").mockReturnValue(signal);
  const ping = jest.fn(async (_signal: AbortSignal) => "found");
  await expect(warmUp(ping)).resolves.toBeUndefined();
  expect(timeout.mock.calls).toEqual([[300]]);
  expect(ping.mock.calls).toEqual([[signal]]);
});

it("lets the function start when the read fails", async () => {
  await expect(warmUp(() => Promise.reject(new Error("down")))).resolves.toBeUndefined();
});
