import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, jest } from "@jest/globals";
import { AWS_CLIENT_OPTIONS } from "../../cli/aws-client-options.ts";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { errorWith, openDeployment, stackWith } from "../support/deployed-keys.ts";
import { keysCli } from "../support/keys-cli.ts";
import { listen } from "../support/listen.ts";
import { failure } from "../support/run-here.ts";

const list = ["list", "--stage", "staging"];
afterEach(() => void jest.restoreAllMocks());

it.each(["show", "rotate", "revoke"])("%s reports a key that does not exist", async (command) => {
  const id = "key_0000000000000000";
  await using aws = await openDeployment();
  expect(await aws.keys(command, id, "--json")).toEqual(failure(`No key in staging has the ID ${id}.`));
});

it.each([
  [undefined, `The stack ${stackName("staging")} is not deployed in eu-west-1.`],
  [stackWith({}), `The stack ${stackName("staging")} in eu-west-1 is incomplete: it has no keys table.`],
  [errorWith("AccessDenied", "no"), `AWS refused to describe the stack ${stackName("staging")}: no`],
])("reports a stack that it cannot use: %#", async (body, message) => {
  await using aws = await openDeployment();
  aws.stacks[stackName("staging")] = body;
  expect(await aws.keys("list")).toEqual(failure(message));
});

it.each([
  ["CLOUDFORMATION", /^keys: AWS cannot be reached in eu-west-1 \(.+\): check .*\n$/],
  ["DYNAMODB", /^keys: The table cannot be used: .+\n$/],
])("gives up when %s sends no response, or only its start", async (name, message) => {
  const requestHandler = { ...AWS_CLIENT_OPTIONS.requestHandler, requestTimeout: 300, socketTimeout: 300 };
  jest.replaceProperty(AWS_CLIENT_OPTIONS, "requestHandler", requestHandler);
  await using aws = await openDeployment();
  for (const respond of [() => {}, (response: ServerResponse) => response.writeHead(200).write(" ")]) {
    const received = jest.fn((_request: IncomingMessage, response: ServerResponse) => void respond(response));
    const silent = await listen(createServer(received));
    const environment = { ...aws.operator, [`AWS_ENDPOINT_URL_${name}`]: silent.origin };
    const result = await aws.run(list, environment).finally(silent.close);
    expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
    expect(received).toHaveBeenCalledTimes(AWS_CLIENT_OPTIONS.maxAttempts);
  }
});

// Jest's own Error class hides the codes of network errors from the AWS SDK, so this runs as a process.
it("reports the code of a network error", async () => {
  await using aws = await openDeployment();
  const nobody = { ...aws.operator, AWS_ENDPOINT_URL_CLOUDFORMATION: "http://127.0.0.1:1" };
  expect(await keysCli(list, nobody)).toEqual(
    failure("AWS cannot be reached in eu-west-1 (ECONNREFUSED): check the network and the region."),
  );
});

it("runs the process of an AWS profile only once, because it can ask for a code", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-profile-"));
  await using aws = await openDeployment();
  const { AWS_ACCESS_KEY_ID: AccessKeyId } = aws.operator;
  const AWS_CONFIG_FILE = join(folder.path, "config");
  const made = JSON.stringify({ Version: 1, AccessKeyId, SecretAccessKey: "test" });
  const called = `'${join(folder.path, "called").replaceAll("'", "'\\''")}'`;
  const config = `[profile asks]\nregion = eu-west-1\ncredential_process = mkdir ${called} && echo '${made}'\n`;
  await writeFile(AWS_CONFIG_FILE, config);
  const environment = { ...aws.endpoints, AWS_CONFIG_FILE, AWS_PROFILE: "asks" };
  expect(await aws.run(list, environment)).toMatchObject({ code: 0, stderr: "" });
});

const id = "key_0000000000000000";
const noRegion = "No AWS region is set: set AWS_REGION, or a region in your AWS profile.";
const asked = deployedStages.filter(({ confirmKeyChanges }) => confirmKeyChanges);

it.each<[message: string, args: string[], environment?: Record<string, string>]>([
  [noRegion, list, {}],
  [noRegion, list, { AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "x", AWS_REGION: "" }],
  [
    "There are no AWS credentials (Could not load credentials from any providers): sign in (for example `aws sso login`), or check AWS_PROFILE.",
    list,
    { AWS_REGION: "eu-west-1", AWS_PROFILE: "nope" },
  ],
  ...asked.flatMap(({ name }): [string, string[], Record<string, string>?][] => {
    const stage = ["--stage", name];
    const confirmation = `in ${name}? Add --yes to confirm it without a terminal.`;
    return [
      [`Issue a key for Acme ${confirmation}`, ["issue", "--owner", "Acme", ...stage]],
      [`No key in ${name} has the ID ${id}.`, ["revoke", id, ...stage]],
      [`No key in ${name} has the ID ${id}.`, ["rotate", id, ...stage]],
      [noRegion, ["issue", "--owner", "Acme", ...stage], {}],
    ];
  }),
])("asks nothing before it has found the keys, and says: %s", async (...[message, args, environment]) => {
  await using aws = await openDeployment(args.at(-1));
  expect(await aws.run(args, environment)).toEqual(failure(message));
});

it.each(asked)("asks with the owner and the state before it ends a key of $name", async ({ name }) => {
  await using aws = await openDeployment(name);
  const { keyId } = await aws.json("issue", "--owner", "Acme");
  const of = `${keyId} of Acme, live, in ${name}?`;
  const add = "cannot be undone. Add --yes to confirm it without a terminal.";
  for (const [command, question] of [
    ["revoke", `Revoke ${of} This ${add}`],
    ["rotate", `Rotate ${of} The end of this key ${add}`],
  ] as const)
    expect(await aws.run([command, keyId, "--stage", name])).toEqual(failure(question));
  expect(await aws.json("show", keyId)).toMatchObject({ state: "live" });
});
