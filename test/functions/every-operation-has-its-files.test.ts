import { readdirSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { entryName } from "../../infra/names.ts";
import { operations } from "../../lib/operations.ts";

it("functions/ and lib/operations/ have a file for each operation, named after its id, and one is the authorizer", () => {
  const filesIn = (folder: string) => readdirSync(new URL(`../../${folder}/`, import.meta.url)).toSorted();
  const files = operations.map(({ id }) => `${entryName(id)}.ts`);
  expect(filesIn("lib/operations")).toEqual(files.toSorted());
  expect(filesIn("functions")).toEqual([...files, "authorize.ts"].toSorted());
});
