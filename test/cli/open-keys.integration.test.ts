import { execFile } from "node:child_process";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeEach, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { makeDataFolder, writeTables } from "../../local/data-folder.ts";
import { keysCli } from "../support/keys-cli.ts";
import { listen } from "../support/listen.ts";

// A stand-in of CloudFormation and DynamoDB, whose answers a test can lose.

type Item = Record<string, { S: string } | { SS: string[] } | { N: string }>;
let items: Item[];
let lost: string;
let stack: string;
const answers: Record<string, (input: { Item: Item }) => object> = {
  PutItem: ({ Item }) => ({ Count: items.push(Item) }),
  Scan: () => ({ Items: items }),
};
const aws = await listen(
  createServer(async (request, response) => {
    const body = await text(request);
    const [, command = ""] = String(request.headers["x-amz-target"] ?? "").split(".");
    if (!command) return void response.writeHead(stack.startsWith("<Error") ? 400 : 200).end(stack);
    const answer = JSON.stringify(answers[command]?.(JSON.parse(body)));
    if (command === lost) request.socket.destroy();
    else response.writeHead(200, { "Content-Type": "application/x-amz-json-1.0" }).end(answer);
  }),
);
afterAll(aws.close);

// AWS: "DescribeStacks", examples, and "Common errors"
const stackWith = (output: string) =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs><member><OutputKey>${output}</OutputKey><OutputValue>Keys</OutputValue></member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
const error =
  "<ErrorResponse><Error><Code>ValidationError</Code><Message>it does not exist</Message></Error></ErrorResponse>";
beforeEach(() => {
  [items, lost, stack] = [[], "", stackWith("ApiKeysTableName")];
});

const credentials = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
const operator = { AWS_ENDPOINT_URL: aws.origin, AWS_REGION: "eu-west-1", ...credentials };
const keys = (args: string[], environment: Record<string, string> = operator) =>
  keysCli([...args, "--stage", "staging"], environment);

it("names a new key that it does not show, because the answer of the table is lost", async () => {
  lost = "PutItem";
  const { code, stdout, stderr } = await keys(["issue", "--owner", "Acme"]);
  const [, keyId = ""] =
    /^keys: The new key (key_\w{16}) was not shown\. Revoke it, .*: The table cannot .*\n$/.exec(stderr) ??
    [];
  expect({ code, stdout, keyId }).toEqual({ code: 1, stdout: "", keyId: expect.stringMatching(/./) });
  expect(items).toContainEqual(expect.objectContaining({ keyId: { S: keyId } }));
});

it("writes a long list into a slow pipe as a whole", async () => {
  const item = (n: number): Item => ({
    keyId: { S: `key_${n}` },
    owner: { S: "犬".repeat(100) },
    endsAt: { N: `${9e12}` },
  });
  items = Array.from({ length: 1500 }, (_, n) => item(n));
  const slow = '"$0" cli/keys.ts list --stage staging --json | (sleep 2; cat)';
  const options = { env: { PATH: process.env.PATH, ...operator }, maxBuffer: 1e8 };
  const { stdout } = await promisify(execFile)("sh", ["-c", slow, process.execPath], options);
  expect(JSON.parse(stdout)).toHaveLength(1500);
});

const inRegion = `The stack ${stackName("staging")} in eu-west-1`;
const noStore =
  /^keys: The local service does not respond: start it with `npm start`: .*127\.0\.0\.1:1 .*ECONNREFUSED.*\n$/;
it.each<[what: string, message: string | RegExp, environment: object, stack?: string]>([
  ["is not there", `${inRegion} cannot be read: it does not exist`, operator, error],
  ["has no table", `${inRegion} is incomplete: it has no keys table.`, operator, stackWith("PetsTableName")],
  [
    "is out of reach",
    new RegExp(`${inRegion} cannot be read: .*ECONNREFUSED`),
    { ...operator, AWS_ENDPOINT_URL: "http://127.0.0.1:1" },
  ],
  ["needs credentials", new RegExp(`${inRegion} cannot be read: .*credentials`), { AWS_REGION: "eu-west-1" }],
  ["needs a region", "Set AWS_REGION, or a region in your AWS profile: Region is missing", credentials],
])("says in one line that a stack %s", async (_what, message, environment, response = stack) => {
  stack = response;
  const { code, stdout, stderr } = await keys(["list"], environment as Record<string, string>);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(message instanceof RegExp ? message : `keys: ${message}\n`);
  expect(stderr).toMatch(/^keys: .*\n$/);
});

it("says in one line that a key, or the local service, is not there", async () => {
  const revoke = keys(["revoke", "key_0000000000000000"]);
  expect(await revoke).toMatchObject({
    code: 1,
    stderr: "keys: No key in staging has the ID key_0000000000000000.\n",
  });
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-keys-"));
  const env = { DATA_DIR: join(folder.path, "data") };
  const local = () => keysCli(["list", "--stage", "local"], env);
  const none = `keys: There is no local service in ${env.DATA_DIR}: start it with \`npm start\`, or set DATA_DIR.\n`;
  expect(await local()).toEqual({ code: 1, stdout: "", stderr: none });
  await makeDataFolder(env);
  await writeTables(env, { endpoint: "http://127.0.0.1:1", apiKeysTable: "Keys" });
  expect(await local()).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(noStore) });
});

it("runs the process of an AWS profile only once, because it can ask for a code", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-profile-"));
  const AWS_CONFIG_FILE = join(folder.path, "config");
  const made = JSON.stringify({ Version: 1, AccessKeyId: "a", SecretAccessKey: "b" });
  const once = `mkdir '${join(folder.path, "called").replaceAll("'", "'\\''")}' && echo '${made}'`;
  await writeFile(AWS_CONFIG_FILE, `[profile asks]\nregion = eu-west-1\ncredential_process = ${once}\n`);
  const profile = { AWS_ENDPOINT_URL: aws.origin, AWS_CONFIG_FILE, AWS_PROFILE: "asks" };
  expect(await keys(["list", "--json"], profile)).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
});
