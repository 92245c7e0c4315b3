import { globSync, readdirSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { isSource } from "../../infra/bundle/options.ts";
import { entryName } from "../../infra/names.ts";
import { errors } from "../../lib/errors.ts";
import { errorsOf, type Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";

const root = new URL("../../", import.meta.url);

it("each operation has a file with its name in functions/, lib/operations/ and test/contract/", () => {
  const filesIn = (folder: string) => readdirSync(new URL(folder, root)).filter(isSource).toSorted();
  const files = operations.map(({ id }) => `${entryName(id)}.ts`);
  expect(filesIn("lib/operations")).toEqual(files.toSorted());
  expect(filesIn("functions")).toEqual([...files, "authorize.ts"].toSorted());
  const tests = files.map((file) => file.replace(".ts", ".integration.test.ts"));
  expect(filesIn("test/contract")).toEqual(expect.arrayContaining(tests));
});

/** The blocks `describe("<method> <path> ...` of the contract suite. */
const blocks = globSync("test/contract/*.test.ts", { cwd: root })
  .flatMap((file) => readFileSync(new URL(file, root), "utf8").split(/^(?=describe\b)/m))
  .filter((block) => block.startsWith("describe("));

it.each<Operation>(operations)("the contract suite tests each response of $id", (operation) => {
  const { method, path, success } = operation;
  const own = blocks.filter((block) => new RegExp(`^describe\\("${method} ${path}["? ]`).test(block)).join();
  const codes = errorsOf(operation).filter((code) => code !== "gone"); // until its sunset, no request gets a 410
  const statuses = [success.status, ...codes.map((code) => errors[code].status)];
  // In a `describe` that starts with the method and the path, each status needs a test that expects it.
  const untested = statuses.filter((status) => !new RegExp(`\\b${status}\\b`).test(own));
  expect({ untested }).toEqual({ untested: [] });
});
