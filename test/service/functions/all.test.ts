import { readdirSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { operations } from "../../../lib/operations.ts";
import { functionFile } from "../../support/function-file.ts";

const files = readdirSync(new URL("../../../functions/", import.meta.url));

it("functions/ has a file for each operation, named after its id, and the authorizer", () => {
  expect(files.toSorted()).toEqual(
    [...operations.map(({ id }) => `${functionFile(id)}.ts`), "authorize.ts"].toSorted(),
  );
});

// The entry (infra/bundle/start.mjs) awaits `warmedUp`, and would not notice that there is none.
it.each(files)("%s exports a handler, and the result of warmUp as warmedUp", async (file) => {
  const { handler, warmedUp } = await import(`../../../functions/${file}`);
  expect({ handler: typeof handler, warmedUp: typeof warmedUp?.then }).toEqual({
    handler: "function",
    warmedUp: "function",
  });
  await warmedUp;
});
