import { globSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { entryName } from "../../infra/names.ts";
import { operations } from "../../lib/operations.ts";

const root = new URL("../../", import.meta.url);

it("each operation has a file with its name in functions/, lib/operations/ and test/contract/", () => {
  const filesIn = (folder: string) => globSync("[!.]*.ts", { cwd: new URL(folder, root) }).toSorted();
  const files = operations.map(({ id }) => `${entryName(id)}.ts`);
  expect(filesIn("lib/operations")).toEqual(files.toSorted());
  expect(filesIn("functions")).toEqual([...files, "authorize.ts"].toSorted());
  const tests = files.map((file) => file.replace(".ts", ".integration.test.ts"));
  expect(filesIn("test/contract")).toEqual(expect.arrayContaining(tests));
});
