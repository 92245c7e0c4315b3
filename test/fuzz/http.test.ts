import { expect, it } from "@jest/globals";
import { fuzz } from "./check.ts";

it("answers whatever is sent to it, never with a 5xx, and every error as an Error", async () => {
  const service = { baseUrl: process.env.CONTRACT_URL ?? "", key: process.env.CONTRACT_KEY ?? "" };
  const { sent, counts, failures } = await fuzz(service, { seed: 1, count: 3000 });
  expect(failures).toEqual([]);
  expect(sent).toBe(3000);
  // The inputs reach every part of the service.
  for (const status of [200, 201, 400, 401, 404, 405, 413, 415]) {
    expect([status, counts.get(String(status)) ?? 0]).toEqual([status, expect.any(Number)]);
    expect(counts.has(String(status))).toBe(true);
  }
});
