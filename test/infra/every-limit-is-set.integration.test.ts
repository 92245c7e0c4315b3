import { expect, it } from "@jest/globals";
import { esbuildOptions } from "../../infra/bundle/options.ts";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { ATTEMPTS, TIMEOUT_MS } from "../../lib/dynamo/client.ts";
import { EARLY_RESPONSE_MS } from "../../lib/http/handler.ts";
import { readResources } from "../support/resources.ts";
import { shared } from "../support/shared.ts";

// The reviewed templates have the limits of a stage. These belong together.

it.each(deployedStages)(
  "in $name, every function has time to respond, on the runtime of its bundle",
  ({ name }) => {
    const { find } = readResources(shared.assembly, stackName(name));
    for (const { Timeout, Runtime } of find("Lambda::Function")) {
      // The client of DynamoDB gives up first, also with a second for the pauses between its attempts. Then the function
      // responds, before its timeout and before API Gateway gives up.
      const responds = Timeout * 1000 - EARLY_RESPONSE_MS;
      expect(responds).toBeGreaterThan(ATTEMPTS * TIMEOUT_MS + 1000);
      expect(responds).toBeLessThan(Timeout * 1000);
      expect(Timeout).toBeLessThan(29);
      expect(Runtime).toBe(`${esbuildOptions.target.replace("node", "nodejs")}.x`);
    }
  },
);
