import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synthesize } from "../../../infra/assembly/synthesize.ts";
import { pascalCase } from "../../../infra/pascal-case.ts";
import { accountStackName, deployedStages as allStages, stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { exampleRepository, synthesizeAccount } from "../../support/account.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/http.ts";
import { keysCli } from "../../support/keys-cli.ts";
import { installPackages } from "../../support/python.ts";
import { addFailingResource, changeFunctions, removeUnsupported } from "./assembly.ts";
import { Commands, type DeployedStage, runAgainst } from "./commands.ts";
import { type Emulator, openEntrance, PACKAGES, REGION, startEmulator } from "./emulator.ts";

const STAGES = allStages.map(({ name }) => name);

// Observed with this version of the emulator; AWS can behave differently.
const NOT_COVERED = [
  "IAM: the emulator allows every role everything (npm test compares the permissions)",
  "the OIDC provider of the account stack, and who can assume its roles",
  "throttling, the firewall, canary deployments and rollbacks: accepted or removed, not imitated",
  "what alarms, dashboard and access logs do with real traffic",
  "time to live, point-in-time recovery and deletion protection of tables",
  "the domain name, DNS and TLS: a proxy of this script replaces them",
  "arm64, memory, cold starts and Lambda's own timeouts",
];

const step = (text: string) => console.log(`\n== ${text}`);

/** Synthesizes the stages as they are deployed here. */
async function synthesizeStages(folder: string, context: Record<string, string> = {}): Promise<string> {
  const assembly = await mkdtemp(join(folder, "stages-"));
  await synthesize(assembly, ["**"], { context, validate: true });
  return assembly;
}

function lint(tools: string, account: string, stages: string): void {
  const templates = [
    join(account, `${accountStackName}.template.json`),
    ...STAGES.map((stage) => join(stages, `${stackName(stage)}.template.json`)),
  ];
  // W3005: CDK repeats a dependency that a reference already makes.
  const options = ["--ignore-checks", "W3005", "--regions", REGION, "--"];
  execFileSync(join(tools, "cfn-lint"), [...options, ...templates], { stdio: "inherit" });
}

/** A failed first creation leaves nothing behind that keeps the next one from succeeding. */
async function createProduction(commands: Commands, folder: string): Promise<void> {
  const unprotected = await synthesizeStages(folder, { deletionProtection: "off" });
  removeUnsupported(unprotected);
  const repair = addFailingResource(unprotected, stackName("production"));
  assert.throws(() => commands.deploy(unprotected, stackName("production")), /ROLLBACK_COMPLETE/);
  repair();
  commands.deploy(unprotected, stackName("production"));
}

async function openStage(name: string, emulator: Emulator, commands: Commands): Promise<DeployedStage> {
  const url = await openEntrance(emulator, commands.outputsOf(stackName(name)).BaseUrl ?? "");
  const { key, keyId } = await commands.keys(name, "issue", "--owner", "deployment test", "--yes");
  return { name, url, key, keyId };
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

async function testNewCode(
  commands: Commands,
  from: string,
  to: string,
  { url, key }: DeployedStage,
  id: number,
) {
  const cacheControl = async () =>
    (await send(url, { path: `/pets/${id}`, key })).headers.get("cache-control");
  assert.equal(await cacheControl(), "no-store");
  assert.equal(changeFunctions(from, to, "no-store", "no-store, private"), operations.length);
  commands.deploy(to, stackName("staging"));
  assert.equal(await cacheControl(), "no-store, private");
}

async function testRevocation(commands: Commands, stages: DeployedStage[]): Promise<void> {
  for (const { name, keyId } of stages) {
    await commands.keys(name, "revoke", keyId, "--yes");
    const records: { keyId: string; revokeAt?: string }[] = await commands.keys(name, "list");
    assert.ok(records.find((record) => record.keyId === keyId)?.revokeAt);
  }
  for (const { name, url, key } of stages) {
    await eventually(
      () => send(url, { path: "/pets", key }),
      ({ status }) =>
        assert.equal(status, 401, `A revoked key still works in ${name} after the cache's time.`),
      { seconds: 65 },
    );
  }
}

async function testRemoval(commands: Commands, assembly: string, { url }: DeployedStage): Promise<void> {
  commands.cdk("destroy", stackName("staging"), "--app", assembly, "--force");
  const { code, stderr } = await keysCli(["list", "--stage", "staging"], commands.environment);
  assert.equal(stderr, `keys: The stack animal-store-staging is not deployed in ${REGION}.\n`);
  assert.equal(code, 1);
  const { key } = await commands.keys("production", "issue", "--owner", "after", "--yes");
  assert.equal((await send(url, { path: "/pets", key })).status, 200);
}

/**
 * Deploys the stacks to an emulator, and tests them there.
 *
 * @throws Error when something does not work, or the emulator cannot be installed
 */
export async function testDeployment(): Promise<void> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), "animal-store-deploy-"));
  const { path: folder } = temporary;

  step("Install the emulator and cfn-lint into a virtual environment");
  const tools = installPackages(folder, PACKAGES);
  using emulator = await startEmulator(tools, folder);

  step("Synthesize, and lint the templates with cfn-lint");
  const stages = await synthesizeStages(folder);
  // The emulator has no resource for an OIDC provider or a budget; npm test compares the stack that creates them.
  const account = await mkdtemp(join(folder, "account-"));
  synthesizeAccount({ repository: { ...exampleRepository, oidcProviderExists: true } }, account);
  lint(tools, account, stages);
  const removed = removeUnsupported(stages);

  step("Bootstrap, and deploy the account stack for an example repository");
  const commands = new Commands(emulator, folder);
  commands.cdk("bootstrap", `aws://000000000000/${REGION}`, "--app", stages);
  commands.deploy(account, accountStackName);
  const roles = ["DiffRoleArn", ...STAGES.map((stage) => `${pascalCase(stage)}DeployRoleArn`)].sort();
  assert.deepEqual(Object.keys(commands.outputsOf(accountStackName)).sort(), roles);

  step("Fail to create production, repeat it without protection, then deploy both stages");
  await createProduction(commands, folder);
  commands.deploy(stages, ...STAGES.map(stackName));
  const staging = await openStage("staging", emulator, commands);
  const production = await openStage("production", emulator, commands);

  for (const stage of [staging, production]) {
    step(`Run the contract suite against ${stage.name}`);
    await runAgainst(stage, "test/integration/contract/run.ts");
  }

  step("Each stage refuses the keys of the other and has data of its own");
  const id = await testSeparation(staging, production);

  step("Deploy staging again with changed functions: the new code serves, the data is kept");
  await testNewCode(commands, stages, join(folder, "changed"), staging, id);

  step("Revoke the keys: refused when the gateway's cache has expired");
  await testRevocation(commands, [staging, production]);

  step("Destroy staging: production keeps working");
  await testRemoval(commands, stages, production);

  console.log("\nThe deployment works. Not covered here:");
  for (const line of [...removed.map((resource) => `removed from ${resource}`), ...NOT_COVERED])
    console.log(`- ${line}`);
}
