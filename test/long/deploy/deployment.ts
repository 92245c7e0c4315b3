import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { accountStackName, pascalCase, stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { synthesize } from "../../../infra/synthesize.ts";
import { operations } from "../../../lib/operations.ts";
import { synthesizeAccount } from "../../support/account.ts";
import { eventually } from "../../support/eventually.ts";
import { exampleRepository } from "../../support/every-option.ts";
import { send } from "../../support/http.ts";
import { keysCli, keysJson, runNode } from "../../support/keys-cli.ts";
import { installPackages } from "../../support/python.ts";
import { addFailingResource, changeFunctions, removeUnsupported } from "./assembly.ts";
import { cdk, deploy, readmeCommands, root, runContractSuite, runPrinted } from "./commands.ts";
import { openEntrance, PACKAGES, REGION, startMiniStack } from "./ministack.ts";

const STAGES = deployedStages.map(({ name }) => name);

/** A deployed stage, with a key that has both scopes. */
interface DeployedStage {
  name: string;
  url: string;
  key: string;
  keyId: string;
}

const step = (text: string) => console.log(`\n== ${text}`);

/** Synthesizes the stages as they are deployed here. */
async function synthesizeStages(folder: string, context: Record<string, string> = {}): Promise<string> {
  const assembly = await mkdtemp(join(folder, "stages-"));
  await synthesize(assembly, { context, validate: true });
  return assembly;
}

/** @returns the id of a pet in staging */
async function testSeparation(staging: DeployedStage, production: DeployedStage): Promise<number> {
  assert.equal((await send(production.url, { path: "/pets", key: staging.key })).status, 401);
  assert.equal((await send(staging.url, { path: "/pets", key: production.key })).status, 401);
  const body = '{"name":"Only in staging","categoryId":1}';
  const created = await send(staging.url, { method: "POST", path: "/pets", key: staging.key, body });
  const { id } = JSON.parse(created.text);
  assert.equal((await send(staging.url, { path: `/pets/${id}`, key: staging.key })).status, 200);
  assert.equal((await send(production.url, { path: `/pets/${id}`, key: production.key })).status, 404);
  return id;
}

/**
 * Deploys the stacks to MiniStack, an emulator of AWS, and tests them there.
 *
 * @throws Error when something does not work, or MiniStack cannot be installed
 */
export async function testDeployment(): Promise<void> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), "animal-store-deploy-"));
  const { path: folder } = temporary;

  step("Install MiniStack and cfn-lint into a virtual environment");
  const tools = installPackages(folder, PACKAGES);
  using miniStack = await startMiniStack(tools, folder);
  const { environment } = miniStack;

  step("Synthesize, and lint the templates with cfn-lint");
  const stages = await synthesizeStages(folder);
  // MiniStack has no resource for a budget; npm test compares the stack that creates it.
  const account = await mkdtemp(join(folder, "account-"));
  synthesizeAccount({ repository: exampleRepository }, account);
  const templates = [
    join(account, `${accountStackName}.template.json`),
    ...STAGES.map((stage) => join(stages, `${stackName(stage)}.template.json`)),
  ];
  // W3005: CDK repeats a dependency that a reference already makes.
  const options = ["--ignore-checks", "W3005", "--regions", REGION, "--"];
  execFileSync(join(tools, "cfn-lint"), [...options, ...templates], { stdio: "inherit" });
  const removed = [...removeUnsupported(account), ...removeUnsupported(stages)];

  step("Bootstrap, deploy staging, send a request and remove staging, as README says");
  const [bootstrap = "", deployStaging = "", issueKey = "", ask = "", request = "", destroy = ""] =
    readmeCommands();
  // The CDK CLI reads its options from such variables too. Here nobody answers what it asks.
  const own = { ...environment, CDK_APP: stages, CDK_REQUIRE_APPROVAL: "never", CDK_FORCE: "true" };
  await runPrinted(bootstrap, own);
  const [, baseUrl = ""] = /BaseUrl\w* = (\S+)/.exec(await runPrinted(deployStaging, own)) ?? [];
  const [issued] = /ask_staging_\w+/.exec(await runPrinted(issueKey, own)) ?? [];
  const answers = `${await openEntrance(environment.AWS_ENDPOINT_URL, baseUrl)}\n${issued}\n`;
  assert.match(await runPrinted(ask + request, own, answers), /^HTTP\/1.1 200 [\s\S]*\n\[\]$/m);
  await runPrinted(destroy, own);

  step("Deploy the account stack for an example repository");
  const roles = deploy(environment, account, accountStackName)[accountStackName] ?? {};
  const deployRoles = STAGES.map((stage) => `${pascalCase(stage)}DeployRoleArn`);
  assert.deepEqual(Object.keys(roles).sort(), deployRoles.sort());

  step("Fail to create production, repeat it without protection, then deploy both stages");
  // A failed first creation leaves nothing behind that keeps the next one from succeeding.
  const unprotected = await synthesizeStages(folder, { deletionProtection: "off" });
  removeUnsupported(unprotected);
  const failing = join(folder, "failing");
  addFailingResource(unprotected, failing);
  assert.throws(() => deploy(environment, failing, stackName("production")), /ROLLBACK_COMPLETE/);
  deploy(environment, unprotected, stackName("production"));
  const outputs = deploy(environment, stages, ...STAGES.map(stackName));
  const openStage = async (name: string, deployed = outputs): Promise<DeployedStage> => {
    const url = await openEntrance(environment.AWS_ENDPOINT_URL, deployed[stackName(name)]?.BaseUrl ?? "");
    const issue = ["issue", "--owner", "deployment test", "--stage", name];
    return { name, url, ...(await keysJson(issue, environment)) };
  };
  const staging = await openStage("staging");
  const production = await openStage("production");

  for (const { name, url, key } of [staging, production]) {
    step(`Run the contract suite against ${name}`);
    await runContractSuite(url, key);
  }

  const client = new DynamoDBClient({
    endpoint: environment.AWS_ENDPOINT_URL,
    region: REGION,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });

  step("Remove a pet, and send its creation again: no list has it any more");
  for (const { name, url, key } of [staging, production]) {
    const add = async () => {
      const headers: [string, string][] = [["Idempotency-Key", "deployment-test"]];
      const body = '{"name":"Deployment test","categoryId":0,"status":"sold"}';
      const { text } = await send(url, { method: "POST", path: "/pets", key, headers, body });
      return /"id":(\d+)/.exec(text)?.[1] ?? "";
    };
    const listed = async () => (await send(url, { path: "/pets?status=sold&limit=100", key })).text;
    const id = await add();
    assert.match(await listed(), /"Deployment test"/);
    const TableName = outputs[stackName(name)]?.PetsTableName ?? "";
    const args = [join(root, "cli/delete-pet.ts"), TableName, id];
    const deleted = await runNode(args, { env: { PATH: process.env.PATH, ...environment } });
    assert.match(deleted.stdout, /"name":"Deployment test".*: deleted\.\n$/, deleted.stderr);
    assert.equal(await add(), id);
    assert.doesNotMatch(await listed(), /"Deployment test"/);
  }

  step("Deploy a personal stage, test it and destroy it: nothing of it is left");
  const assembly = await synthesizeStages(folder, { stage: "anna" });
  removeUnsupported(assembly);
  const personal = await openStage("anna", deploy(environment, assembly, stackName("anna")));
  assert.match(personal.key, /^ask_anna_/);
  await runContractSuite(personal.url, personal.key);
  await testSeparation(staging, personal);
  const tablesOf = async (stack: string) => {
    const { TableNames = [] } = await client.send(new ListTablesCommand());
    return TableNames.filter((name) => name.startsWith(`${stack}-`)).length;
  };
  assert.equal(await tablesOf(stackName("anna")), await tablesOf(stackName("staging")));
  cdk(environment, "destroy", stackName("anna"), "--app", assembly, "--force");
  assert.equal(await tablesOf(stackName("anna")), 0);

  step("Each stage refuses the keys of the other and has data of its own");
  const id = await testSeparation(staging, production);

  step("Deploy staging again with changed functions: the new code serves, the data is kept");
  const cacheControl = async () =>
    (await send(staging.url, { path: `/pets/${id}`, key: staging.key })).headers.get("cache-control");
  assert.equal(await cacheControl(), "no-store");
  const changed = join(folder, "changed");
  assert.equal(changeFunctions(stages, changed, "no-store", "no-store, private"), operations.length);
  deploy(environment, changed, stackName("staging"));
  assert.equal(await cacheControl(), "no-store, private");

  step("Revoke the keys: refused when the gateway's cache has expired");
  for (const { name, keyId } of [staging, production])
    await keysJson(["revoke", keyId, "--stage", name], environment);
  for (const { name, url, key } of [staging, production])
    await eventually(
      () => send(url, { path: "/pets", key }),
      ({ status }) =>
        assert.equal(status, 401, `A revoked key still works in ${name} after the cache's time.`),
      { seconds: 65 },
    );

  step("Destroy staging: production keeps working");
  cdk(environment, "destroy", stackName("staging"), "--app", stages, "--force");
  const { code, stderr } = await keysCli(["list", "--stage", "staging"], environment);
  assert.match(
    stderr,
    new RegExp(`^keys: The stack ${stackName("staging")} in ${REGION} cannot be read: .*\n$`),
  );
  assert.equal(code, 1);
  const { key } = await openStage("production");
  assert.equal((await send(production.url, { path: "/pets", key })).status, 200);

  console.log("\nThe deployment works, without what MiniStack does not support:");
  for (const resource of removed) console.log(`- ${resource}`);
}
