import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { DynamoDBClient, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { expect, it } from "@jest/globals";
import { readStack } from "../../../infra/assembly/template.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { generateApiKey, hashApiKey, keyIdOf } from "../../../lib/api-key.ts";
import { createOwnTables } from "../../support/own-tables.ts";

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

it("names only outputs that a stage has, as the other documents do", () => {
  const texts = globSync("**/*.md", { cwd: docs }).map((file) => readFileSync(new URL(file, docs), "utf8"));
  const named = texts.join().match(/[\w{}]+(FunctionName|TableName|TopicArn)\b/g) ?? [];
  expect(named).not.toEqual([]);
  expect(Object.keys(outputs)).toEqual(expect.arrayContaining(named));
});

it("copies a restored table, or a part of it", async () => {
  const [source, target] = [(await createOwnTables()).pets, (await createOwnTables()).pets];
  const client = new DynamoDBClient({});
  const items = Array.from({ length: 60 }, (_, n) => ({
    id: { N: String(n) },
    categoryId: { N: String(2n ** 63n - BigInt(n)) },
  }));
  for (const Item of items) await client.send(new PutItemCommand({ TableName: source, Item }));
  const [copy = ""] = /^copy\(\) \{.*?^\}$/ms.exec(runbook) ?? [];
  const [, condition = ""] = /copy "\$TABLE" "\$TABLE-restored" ('.*')$/m.exec(runbook) ?? [];
  for (const [options, expected] of [
    [condition.replace("<id>", "40"), items.slice(41)],
    ["", items],
  ] as const) {
    const script = `npx() { "$@"; }\n${copy}\ncopy ${source} ${target} ${options}`;
    const { status, stdout } = spawnSync("bash", ["-euc", script], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, `${expected.length} items copied.\n`]);
    const { Items = [] } = await client.send(new ScanCommand({ TableName: target }));
    expect(Items.toSorted((a, b) => Number(a.id?.N) - Number(b.id?.N))).toEqual(expected);
  }
});
