import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { readStack } from "../../../infra/assembly/template.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { generateApiKey, hashApiKey, isForChecks, keyIdOf, newApiKeyRecord } from "../../../lib/api-key.ts";

const { TEST_ASSEMBLY = "" } = process.env;
const docs = new URL("../../../docs/", import.meta.url);
const runbook = ["incidents.md", "deployment.md"]
  .map((file) => readFileSync(new URL(file, docs), "utf8"))
  .join("");
const { outputs } = readStack(TEST_ASSEMBLY, servedStackName);

it("computes the ID of a leaked key as `npm run keys` shows it", () => {
  const [, command = ""] = /^ *read -rs KEY; (echo .*?);/m.exec(runbook) ?? [];
  const KEY = generateApiKey("staging");
  const { stdout } = spawnSync("bash", ["-c", command], { env: { ...process.env, KEY }, encoding: "utf8" });
  expect(stdout).toBe(`${keyIdOf(hashApiKey(KEY))}\n`);
});

it("gives the key that stands for existing clients a name that does not count as a client", () => {
  const [, line = ""] =
    /^ *npm run keys -- (issue .*)\n *gh secret set EXISTING_API_KEY/m.exec(runbook) ?? [];
  const [, owner = ""] = /--owner (\S+)/.exec(line) ?? [];
  expect(isForChecks(newApiKeyRecord("key", { owner, scopes: ["pets:read"], createdAt: 0 }))).toBe(true);
  expect(line).toContain("--scopes pets:read");
});

it("names only outputs that a stage has, as the other documents do", () => {
  const texts = globSync("**/*.md", { cwd: docs }).map((file) => readFileSync(new URL(file, docs), "utf8"));
  const named = texts.join().match(/[\w{}]+(FunctionName|TableName|TopicArn)\b/g) ?? [];
  expect(named).not.toEqual([]);
  expect(Object.keys(outputs)).toEqual(expect.arrayContaining(named));
});
