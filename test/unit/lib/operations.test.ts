import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { type Operation, operations } from "../../../lib/operations.ts";

/** The operations other than creations that write, each after a review of docs/decisions/claim-then-put.md. */
const reviewed: string[] = [];

it("no operation changes or deletes pets without a review of idempotent creation", () => {
  const writing = (operations as readonly Operation[]).filter(
    ({ method }) => !["GET", "POST"].includes(method),
  );
  const unsafe = writing.filter(({ id }) => !reviewed.includes(id)).map(({ id }) => id);
  if (unsafe.length > 0) {
    throw new Error(
      `${unsafe} can undo or repeat a creation: do what docs/decisions/claim-then-put.md says under "What it rests on", then add it to the list in this test.`,
    );
  }
  expect(writing.map(({ id }) => id)).toEqual(reviewed);
});

it("every operation has an id and a route of its own", () => {
  for (const names of [
    operations.map(({ id }) => id),
    operations.map(({ method, path }) => `${method} ${path}`),
  ]) {
    expect(new Set(names).size).toBe(names.length);
  }
});

it.each(operations)("the contract suite tests $id", ({ method, path }) => {
  const folder = new URL("../../service/contract/", import.meta.url);
  const suite = globSync("*.test.ts", { cwd: folder }).map((file) =>
    readFileSync(new URL(file, folder), "utf8"),
  );
  // test/service/contract/ has a `describe` for each operation.
  expect(suite.join("\n")).toContain(`describe("${method} ${path}"`);
});
