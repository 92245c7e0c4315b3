import { expect, it } from "@jest/globals";
import { shared } from "../../support/shared.ts";
import { checkModel } from "./check.ts";

it("the service does what the model of the contract says, also between hostile requests", async () => {
  const service = { baseUrl: () => shared.baseUrl, key: shared.key };
  const statuses = await checkModel(service, { seed: 1, runs: 2, commands: 30, hostile: 300 });
  // The hostile requests reach every part of the service.
  expect(statuses).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 413, 415]));
});
