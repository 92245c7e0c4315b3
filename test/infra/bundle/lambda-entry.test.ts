import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "@jest/globals";
import { lambdaEntryFile } from "../../../infra/bundle/options.ts";
import { runNode } from "../../support/run-node.ts";

it("the entry has loaded only when the function has warmed up", async () => {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-start-"));
  const ready = "new Promise((resolve) => setImmediate(() => resolve((globalThis.warm = true))))";
  await writeFile(join(folder, "index.cjs"), `exports.handler = "h"; exports.ready = ${ready}`);
  await copyFile(lambdaEntryFile, join(folder, "lambda-entry.mjs"));
  const entry = JSON.stringify(pathToFileURL(join(folder, "lambda-entry.mjs")));
  const script = `import(${entry}).then(({ handler }) => console.log(handler, String(globalThis.warm)))`;
  expect(await runNode(["--eval", script], {})).toEqual({ code: 0, stdout: "h true\n", stderr: "" });
  await rm(folder, { recursive: true });
});
