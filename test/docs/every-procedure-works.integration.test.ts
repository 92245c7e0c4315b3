import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { readStack } from "../../emulator/template/template.ts";
import { functionOutput } from "../../infra/names.ts";
import { servedStackName } from "../../infra/stages.ts";
import { generateApiKey, hashApiKey, keyIdOf } from "../../lib/api-key.ts";
import { codeBlocks } from "../support/code-blocks.ts";
import { functionOf } from "../support/function-of.ts";
import type { Json } from "../support/json.ts";
import { functionNames, readResources } from "../support/resources.ts";
import { shared } from "../support/shared.ts";

const docs = new URL("../../docs/", import.meta.url);
const procedures = ["incidents.md", "deployment.md"]
  .map((file) => readFileSync(new URL(file, docs), "utf8"))
  .join("");
const stack = readStack(shared.assembly, servedStackName);
const { fn } = readResources(shared.assembly, servedStackName);

it("computes the ID of a leaked key as `npm run keys` shows it", () => {
  const [, command = ""] = /^ *.*read -rs KEY; echo; (echo .*?);/m.exec(procedures) ?? [];
  const KEY = generateApiKey("staging");
  const { stdout } = spawnSync("bash", ["-c", command], { env: { ...process.env, KEY }, encoding: "utf8" });
  expect(stdout).toBe(`${keyIdOf(hashApiKey(KEY))}\n`);
});

it("prints the position in the source of a stack frame", () => {
  const [command = ""] = codeBlocks(procedures, "sh").filter((one) => one.includes("findOrigin"));
  // The bundle throws, because its environment variables are missing.
  const file = JSON.stringify(join(functionOf(stack, functionOutput("getPet")).code, "index.cjs"));
  const script = `try { require(${file}) } catch ({ stack }) { console.log(stack) }`;
  const run = spawnSync(process.execPath, ["--eval", script], { env: {}, encoding: "utf8" });
  const [, line, column] = /index\.cjs:(\d+):(\d+)/.exec(run.stdout) ?? [];
  const filled = command.replace("25, 4696", `${line}, ${column}`);
  const env = { ...process.env, FORCE_COLOR: undefined }; // the colors would be in the text
  const { stdout } = spawnSync("bash", ["-c", filled], { cwd: new URL("..", docs), env, encoding: "utf8" });
  const [, source = "", at] = /fileName: '(.+)',\n *lineNumber: (\d+)/.exec(stdout) ?? [];
  const lines = readFileSync(new URL(source, new URL("../functions/", docs)), "utf8").split("\n");
  expect({ source, line: lines[Number(at) - 1] }).toEqual({
    source: "../lib/env.ts",
    line: expect.stringContaining("new Error"),
  });
});

it("changes nothing with a value of an example: the shell refuses a placeholder such as <id>", () => {
  const commands = procedures.match(/^ *(aws|gh|git|live|npm|npx) (.*\\\n)*.*/gm) ?? [];
  const example =
    /\b(key_[0-9a-f]{16}|d-[0-9A-Z]{9}|live \d+|\d{12,}|\w+[0-9A-F]{8}|20\d\d-\d\d-\d\dT.*)\b|@example/;
  expect(commands.filter((command) => example.test(command))).toEqual([]);
});

it("names only outputs that a stage has, as the other documents do", () => {
  const texts = globSync("**/*.md", { cwd: docs }).map((file) => readFileSync(new URL(file, docs), "utf8"));
  const named = texts.join().match(/[\w{}]+(FunctionName|TableName|TopicArn)\b/g) ?? [];
  expect(named).not.toEqual([]);
  expect(Object.keys(stack.outputs)).toEqual(expect.arrayContaining(named));
});

it("stops every function that writes before it copies the tables to another region", () => {
  const [, section = ""] = /^## Losing the region\n(.*?)^## /ms.exec(procedures) ?? [];
  const writing = functionNames.filter((name) =>
    fn(name).grants.some(({ action }: Json) => /^dynamodb:(?!Get|Query|Scan)/.test(action)),
  );
  expect((section.match(/\w+FunctionName/g) ?? []).sort()).toEqual(writing.map(functionOutput).sort());
});
