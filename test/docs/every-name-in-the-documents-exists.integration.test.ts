import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { ACCESS_LOG_FORMAT } from "../../infra/api/access-log.ts";
import { accountStackName, stackName } from "../../infra/names.ts";
import { production } from "../../infra/stages.ts";
import { generateApiKey, hashApiKey, keyIdOf } from "../../lib/api-key.ts";
import { readTemplate } from "../../tools/generate/reviewed-templates.ts";
import { codeBlocks } from "../support/code-blocks.ts";
import { filledIn } from "../support/stages.ts";

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

it("queries fields that a line of the access log has", () => {
  // Query 3 reads the logs of the functions. Other filters are in the text.
  const queries = codeBlocks(text, "text").filter((query) => !query.includes("Query 3"));
  const filters = text.match(/`filter \w+ = .*?`/g) ?? [];
  const read = [...queries, ...filters].join("\n").replaceAll(/"[^"]*"|#.*|`/g, "");
  const fields = read.match(/(?<=pct\(|by |, |filter | and )[a-z]+(?!\w*\()/gi) ?? [];
  expect(fields).not.toEqual([]);
  expect(fields.filter((name) => !ACCESS_LOG_FORMAT.includes(`"${name}":`))).toEqual([]);
});

it("names only outputs, rules, attributes and resources that production or the account has", () => {
  const stacks = [stackName(production.name), accountStackName];
  const templates = stacks.map((stack) => JSON.stringify(readTemplate(filledIn.assembly, stack))).join();
  const named = [
    /\b\w+(FunctionName|TableName|TopicArn)\b/,
    /\bRateOf\w+/,
    /(?<=AttributeName=)\w+/,
    /(?<=`\.{3})Api\w+/,
  ];
  for (const pattern of named) {
    const found = text.match(new RegExp(pattern, "g")) ?? [];
    expect(found).not.toEqual([]);
    expect(found.filter((name) => !templates.includes(name))).toEqual([]);
  }
});
