import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { servedStackName } from "../../infra/stages.ts";
import { generateApiKey, hashApiKey, keyIdOf } from "../../lib/api-key.ts";
import { readStack } from "../../tools/emulator/template/template.ts";
import { shared } from "../support/shared.ts";

const docs = new URL("../../docs/", import.meta.url);
const text = globSync("**/*.md", { cwd: docs })
  .map((file) => readFileSync(new URL(file, docs), "utf8"))
  .join();

it("computes the ID of a leaked key as `npm run keys` shows it", () => {
  const [, command = ""] = /read -rs KEY; echo; (echo .*?);/.exec(text) ?? [];
  const KEY = generateApiKey("staging");
  const { stdout } = spawnSync("bash", ["-c", command], { env: { ...process.env, KEY }, encoding: "utf8" });
  expect(stdout).toBe(`${keyIdOf(hashApiKey(KEY))}\n`);
});

it("names only outputs that a stage has", () => {
  const named = text.match(/\b\w+(FunctionName|TableName|TopicArn)\b/g) ?? [];
  expect(named).not.toEqual([]);
  expect(Object.keys(readStack(shared.assembly, servedStackName).outputs)).toEqual(
    expect.arrayContaining(named),
  );
});
