import { expect, it } from "@jest/globals";
import { fuzz } from "../../long/fuzz/fuzz.ts";

it("gets no 5xx for any request, and an Error for every 4xx", async () => {
  const service = { baseUrl: process.env.CONTRACT_URL ?? "", key: process.env.CONTRACT_KEY ?? "" };
  const { sent, counts, failures } = await fuzz(service, { seed: 1, count: 3000 });
  expect(failures).toEqual([]);
  expect(sent).toBe(3000);
  // The requests reach every part of the service.
  expect([...counts.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 413, 415]));
});
