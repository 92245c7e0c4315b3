import { expect, it } from "@jest/globals";
import { shared } from "../../support/shared.ts";
import { checkModel } from "./check.ts";

it("the service does what the model of the contract says, also between hostile requests", async () => {
  const statuses = await checkModel(shared, { seed: 1, runs: 1, commands: 100, hostile: 300 });
  // The hostile requests reach every part of the service.
  expect([...new Set(statuses)]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 413, 415]));
});
