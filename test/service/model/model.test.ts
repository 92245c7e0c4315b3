import { it } from "@jest/globals";
import { checkModel } from "../../long/model/check.ts";

it("the service does what the model of the contract says", async () => {
  const service = { baseUrl: process.env.CONTRACT_URL ?? "", key: process.env.CONTRACT_KEY ?? "" };
  await checkModel(service, { seed: 1, runs: 10, commands: 30 });
});
