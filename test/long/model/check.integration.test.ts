import { expect, it } from "@jest/globals";
import { errors } from "../../../lib/errors.ts";
import { errorsOf } from "../../../lib/operation.ts";
import { operations } from "../../../lib/operations.ts";
import { shared } from "../../support/shared.ts";
import { checkModel } from "./check.ts";

it("the service does what the model of the contract says, also between hostile requests", async () => {
  const service = { baseUrl: () => shared.baseUrl, key: shared.key };
  const options = { seed: 1, runs: 1, commands: 100, hostile: 300 };
  const { statuses, expected } = await checkModel(service, options);
  // The hostile requests reach every part of the service.
  expect([...new Set(statuses)].sort()).toEqual(
    expect.arrayContaining([200, 201, 400, 401, 404, 405, 413, 415]),
  );
  // The model knows every operation, with the errors of its own. Until its sunset, an operation is not gone.
  const responses = operations.flatMap((operation) => [
    `${operation.id} ${operation.success.status}`,
    ...errorsOf(operation)
      .filter((code) => code !== "gone")
      .map((code) => `${operation.id} ${errors[code].status}`),
  ]);
  expect(responses.filter((one) => !expected.has(one))).toEqual([]);
});
