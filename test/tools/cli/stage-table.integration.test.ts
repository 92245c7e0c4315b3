import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { mkdir, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeEach, expect, it } from "@jest/globals";
import { stackName } from "../../../infra/names.ts";
import { listen } from "../../support/listen.ts";
import { keysCli } from "../../support/run-node.ts";

/** How CloudFormation describes a stack (AWS: "DescribeStacks", examples), and refuses to ("Common errors"). */
const stackWith = (output: string) =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs><member><OutputKey>${output}</OutputKey><OutputValue>Keys</OutputValue></member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
const noStack =
  "<ErrorResponse><Error><Code>ValidationError</Code><Message>it is not there</Message></Error></ErrorResponse>";

/** A stand-in of CloudFormation and DynamoDB. It loses the answer to a PutItem. */
let [items, stack]: [items: object[], stack: string] = [[], ""];
const AWS_CA_BUNDLE = join(import.meta.dirname, "../../support/certificate.pem");
const pem = await readFile(AWS_CA_BUNDLE);
const aws = await listen(
  createServer({ key: pem, cert: pem }, async (request, response) => {
    const [, command] = String(request.headers["x-amz-target"] ?? "").split(".");
    const body = await text(request);
    if (!command) return void response.writeHead(stack === noStack ? 400 : 200).end(stack);
    if (command === "PutItem") items.push(JSON.parse(body).Item) && request.socket.destroy();
    else
      response.setHeader("Content-Type", "application/x-amz-json-1.0").end(JSON.stringify({ Items: items }));
  }),
);
afterAll(aws.close);
beforeEach(() => {
  [items, stack] = [[], stackWith("ApiKeysTableName")];
});

const credentials = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
const AWS_ENDPOINT_URL = aws.origin.replace("http", "https");
const operator = { AWS_ENDPOINT_URL, AWS_CA_BUNDLE, AWS_REGION: "eu-west-1", ...credentials };
const keys = (args: string[], environment: Record<string, string> = operator) =>
  keysCli([...args, "--stage", "staging"], environment);
const failure = (message: string) => ({
  code: 1,
  stdout: "",
  stderr: expect.stringMatching(new RegExp(`^keys: ${message}\n$`)),
});

it("names a new key that it cannot show, because the table's answer is lost", async () => {
  const result = await keys(["issue", "--owner", "Acme"]);
  const [, keyId] = /(key_\w{16})/.exec(result.stderr) ?? [];
  expect(result).toEqual(
    failure("The new key key_\\w{16} was not shown\\. Revoke it, .*: The table cannot .*"),
  );
  expect(items).toContainEqual(expect.objectContaining({ keyId: { S: keyId } }));
});

it("writes a long list into a slow pipe as a whole", async () => {
  items = Array(1500).fill({ owner: { S: "犬".repeat(100) }, endsAt: { N: "9000000000000" } });
  const command = '"$0" tools/cli/keys.ts list --stage staging --json | (sleep 2; cat)';
  const options = { env: { PATH: process.env.PATH, ...operator }, maxBuffer: 1e8 };
  const { stdout } = await promisify(execFile)("sh", ["-c", command, process.execPath], options);
  expect(JSON.parse(stdout)).toHaveLength(1500);
});

const inRegion = `The stack ${stackName("staging")} in eu-west-1`;
const nobody = { ...operator, AWS_ENDPOINT_URL: "https://127.0.0.1:1" };
const proxied = { ...nobody, https_proxy: "http://127.0.0.1:2" };
it.each<[message: string, environment: Record<string, string>, stack?: string]>([
  [`${inRegion} cannot be read: it is not there`, operator, noStack],
  [`${inRegion} is incomplete: it has no output ApiKeysTableName\\.`, operator, stackWith("PetsTableName")],
  [`${inRegion} cannot be read: .*ECONNREFUSED.*:1`, { ...proxied, NO_PROXY: "127.0.0.1" }],
  [`${inRegion} cannot be read: .*ECONNREFUSED.*:2`, proxied],
  ["ENOENT: no such file or directory, open '/nowhere'", { ...nobody, AWS_CA_BUNDLE: "/nowhere" }],
  [`${inRegion} cannot be read: .*credentials.*`, { AWS_REGION: "eu-west-1" }],
  ["Set AWS_REGION, or a region in your AWS profile: Region is missing", credentials],
])("says in one line: %s", async (message, environment, response = stack) => {
  stack = response;
  expect(await keys(["list"], environment)).toEqual(failure(message));
});

it("says in one line that a key is not there", async () => {
  const id = "key_0000000000000000";
  expect(await keys(["revoke", id])).toEqual(failure(`No key in staging has the ID ${id}\\.`));
});

it("also calls SSO, for credentials, through a proxy", async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), "animal-store-sso-"));
  const cache = join(home.path, ".aws/sso/cache");
  await mkdir(cache, { recursive: true });
  await writeFile(join(cache, `${hash("sha1", "a")}.json`), '{"accessToken":"a","expiresAt":"2100-01-01"}');
  const settings = ["[default]", "start_url = a", "region = eu-west-1", "account_id = 1", "role_name = a"];
  await writeFile(join(home.path, ".aws/config"), settings.join("\nsso_"));
  const result = await keys(["list"], { ...proxied, HOME: home.path, AWS_ACCESS_KEY_ID: "" });
  expect(result).toEqual(failure(`${inRegion} cannot be read: .*ECONNREFUSED.*:2`));
});

it("runs the process of an AWS profile only once, because it can ask for a code", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-profile-"));
  const AWS_CONFIG_FILE = join(folder.path, "config");
  const made = JSON.stringify({ Version: 1, AccessKeyId: "a", SecretAccessKey: "b" });
  const once = `mkdir '${join(folder.path, "called").replaceAll("'", "'\\''")}' && echo '${made}'`;
  await writeFile(AWS_CONFIG_FILE, `[profile asks]\nregion = eu-west-1\ncredential_process = ${once}\n`);
  const profile = { ...operator, AWS_ACCESS_KEY_ID: "", AWS_CONFIG_FILE, AWS_PROFILE: "asks" };
  expect(await keys(["list", "--json"], profile)).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
});
