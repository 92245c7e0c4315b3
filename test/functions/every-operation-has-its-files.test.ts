import { readdirSync } from "node:fs";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "@jest/globals";
import { lambdaEntryFile } from "../../infra/bundle/options.ts";
import { entryName } from "../../infra/names.ts";
import { operations } from "../../lib/operations.ts";
import { runNode } from "../support/keys-cli.ts";

it("functions/ and lib/operations/ have a file for each operation, named after its id, and one is the authorizer", () => {
  const filesIn = (folder: string) => readdirSync(new URL(`../../${folder}/`, import.meta.url)).toSorted();
  const files = operations.map(({ id }) => `${entryName(id)}.ts`);
  expect(filesIn("lib/operations")).toEqual(files.toSorted());
  expect(filesIn("functions")).toEqual([...files, "authorize.ts"].toSorted());
});

it("the entry has loaded only when the function has warmed up", async () => {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-start-"));
  const ready = "new Promise((resolve) => setImmediate(() => resolve((globalThis.warm = true))))";
  await writeFile(join(folder, "index.js"), `exports.handler = "h"; exports.ready = ${ready}`);
  await copyFile(lambdaEntryFile, join(folder, "lambda-entry.mjs"));
  const entry = JSON.stringify(pathToFileURL(join(folder, "lambda-entry.mjs")));
  const script = `import(${entry}).then(({ handler }) => console.log(handler, globalThis.warm))`;
  expect(await runNode(["--eval", script], {})).toEqual({ code: 0, stdout: "h true\n", stderr: "" });
  await rm(folder, { recursive: true });
});
