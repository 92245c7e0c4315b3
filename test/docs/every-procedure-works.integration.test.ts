import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { expect, it } from "@jest/globals";
import { readStack } from "../../emulator/template/template.ts";
import { stackName } from "../../infra/names.ts";
import { servedStackName } from "../../infra/stages.ts";
import { generateApiKey, hashApiKey, isForChecks, keyIdOf, newApiKeyRecord } from "../../lib/api-key.ts";
import { petCreator, petLister, retiredItem } from "../../lib/dynamo/pet-store.ts";
import type { Json } from "../support/json.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { listAll } from "../support/pets.ts";
import { readTemplate } from "../support/reviewed-templates.ts";
import { shared } from "../support/shared.ts";

const docs = new URL("../../docs/", import.meta.url);
const procedures = ["incidents.md", "deployment.md"]
  .map((file) => readFileSync(new URL(file, docs), "utf8"))
  .join("");
const { outputs } = readStack(shared.assembly, servedStackName);

it("computes the ID of a leaked key as `npm run keys` shows it", () => {
  const [, command = ""] = /^ *.*read -rs KEY; echo; (echo .*?);/m.exec(procedures) ?? [];
  const KEY = generateApiKey("staging");
  const { stdout } = spawnSync("bash", ["-c", command], { env: { ...process.env, KEY }, encoding: "utf8" });
  expect(stdout).toBe(`${keyIdOf(hashApiKey(KEY))}\n`);
});

it("gives each key for a check a name that does not count as a client, and lets it read only", () => {
  const issued = [...procedures.matchAll(/`npm run keys -- issue .*--owner (ci-\S+)\s(.*?)`/g)];
  expect(issued.length).toBeGreaterThan(1);
  for (const [, owner = "", rest] of issued) {
    expect(isForChecks(newApiKeyRecord("key", { owner, scopes: ["pets:read"], createdAt: 0 }))).toBe(true);
    expect(rest).toBe("--scopes pets:read");
  }
});

it("keeps CloudFormation from replacing and deleting tables, and from nothing else", () => {
  const [, policy = ""] = /--stack-policy-body '(.*?)'/s.exec(procedures) ?? [];
  const statements: Json[] = JSON.parse(policy).Statement;
  const allows = (action: string, type: string) => {
    const effects = statements
      .filter(({ Action }) => [Action].flat().some((one) => one === "Update:*" || one === action))
      .filter(({ Condition }) => !Condition || Condition.StringEquals.ResourceType.includes(type))
      .map(({ Effect }) => Effect);
    return effects.includes("Allow") && !effects.includes("Deny");
  };
  const { Resources } = readTemplate(shared.assembly, stackName("production"));
  for (const { Type } of Object.values<Json>(Resources)) {
    const isTable = Type === "AWS::DynamoDB::Table";
    const allowed = ["Modify", "Replace", "Delete"].map((action) => allows(`Update:${action}`, Type));
    expect([Type, allowed]).toEqual([Type, [true, !isTable, !isTable]]);
  }
});

it("changes nothing with a value of an example: the shell refuses a placeholder such as <version>", () => {
  const commands = procedures.match(/^ *(aws|gh|git|live|npm|npx) (.*\\\n)*.*/gm) ?? [];
  const example =
    /\b(key_[0-9a-f]{16}|d-[0-9A-Z]{9}|live \d+|\d{12,}|\w+[0-9A-F]{8}|20\d\d-\d\d-\d\dT.*)\b|@example/;
  expect(commands.filter((command) => example.test(command))).toEqual([]);
});

it("names only outputs that a stage has, as the other documents do", () => {
  const texts = globSync("**/*.md", { cwd: docs }).map((file) => readFileSync(new URL(file, docs), "utf8"));
  const named = texts.join().match(/[\w{}]+(FunctionName|TableName|TopicArn)\b/g) ?? [];
  expect(named).not.toEqual([]);
  expect(Object.keys(outputs)).toEqual(expect.arrayContaining(named));
});

/** An `aws dynamodb` that sends the commands of the procedures to the store of the tests, and the `output` of its table. */
const aws = `output() { [ "$1" = PetsTableName ] && echo "$PETS"; }; aws() { node --input-type=module --eval '
  import * as dynamodb from "@aws-sdk/client-dynamodb";
  const [, operation, ...options] = process.argv.slice(1);
  const pascal = (name) => name.replace(/(^-*|-)(.)/g, (_all, _dash, letter) => letter.toUpperCase());
  const input = {};
  for (let [name, value] = options.splice(0, 1); name; [name] = options.splice(0, 1)) {
    value = !options[0] || options[0].startsWith("--") ? true : options.shift();
    input[pascal(name)] = /^[{n]/.test(value) ? JSON.parse(value) : value;
  }
  const { Query, Output, ...rest } = input;
  const found = await new dynamodb.DynamoDBClient({}).send(new dynamodb[pascal(operation) + "Command"](rest));
  if (Query) console.log(JSON.stringify(found[Query]));
' -- "$@"; }`;

it("deletes a pet by hand as a deletion of the service would, and only a pet", async () => {
  const tables = await createOwnTables();
  const { create } = petCreator(tables, 1);
  const token = { keyId: "key_1", idempotencyKey: "1" };
  const pet = await create({ name: "Rex", categoryId: 1n, status: "sold" }, token);
  const [, command = ""] = /^\*\*Delete a pet by hand\*\*.*?^```sh\n(.*?)^```/ms.exec(procedures) ?? [];
  const remove = (id: bigint) =>
    spawnSync("bash", ["-euc", `${aws}\n${command.replace("<id>", String(id))}`], {
      env: { ...process.env, PETS: tables.pets, NODE_OPTIONS: "" },
      encoding: "utf8",
    });
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const itemOf = async () =>
    (await client.send(new GetCommand({ TableName: tables.pets, Key: { id: pet.id } }))).Item;
  const { creationId } = (await itemOf()) ?? {};
  expect(remove(pet.id)).toMatchObject({ status: 0 });
  const retired = retiredItem(pet.id, { creationId });
  expect(await itemOf()).toEqual({ ...retired, id: Number(pet.id) });
  expect(await create({ name: "Rex", categoryId: 1n, status: "sold" }, token)).toEqual(pet);
  expect(await listAll(petLister(tables.pets, 1), { limit: 100 })).toEqual([]);
  // A second time, and without a pet.
  for (const id of [pet.id, 7n]) expect(remove(id).status).not.toBe(0);
  expect(await itemOf()).toEqual({ ...retired, id: Number(pet.id) });
});
