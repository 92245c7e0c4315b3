import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synthesize } from "../../../infra/assembly/synthesize.ts";
import { pascalCase } from "../../../infra/pascal-case.ts";
import { accountStackName, deployedStages, stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { exampleRepository, synthesizeAccount } from "../../support/account.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/http.ts";
import { keysCli, keysJson } from "../../support/keys-cli.ts";
import { installPackages } from "../../support/python.ts";
import { addFailingResource, changeFunctions, removeUnsupported } from "./assembly.ts";
import { cdk, deploy, runContractSuite } from "./commands.ts";
import { openEntrance, PACKAGES, REGION, startEmulator } from "./emulator.ts";

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

async function testRevocation(stages: DeployedStage[], environment: Record<string, string>): Promise<void> {
  for (const { name, keyId } of stages)
    await keysJson(["revoke", keyId, "--yes", "--stage", name], environment);
  for (const { name, url, key } of stages) {
    await eventually(
      () => send(url, { path: "/pets", key }),
      ({ status }) =>
        assert.equal(status, 401, `A revoked key still works in ${name} after the cache's time.`),
      { seconds: 65 },
    );
  }
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
  const { environment } = emulator;

  step("Synthesize, and lint the templates with cfn-lint");
  const stages = await synthesizeStages(folder);
  // The emulator has no resource for an OIDC provider or a budget; npm test compares the stack that creates them.
  const account = await mkdtemp(join(folder, "account-"));
  synthesizeAccount({ repository: { ...exampleRepository, oidcProviderExists: true } }, account);
  lint(tools, account, stages);
  const removed = removeUnsupported(stages);

  step("Bootstrap, and deploy the account stack for an example repository");
  cdk(environment, "bootstrap", `aws://000000000000/${REGION}`, "--app", stages);
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
  const openStage = async (name: string): Promise<DeployedStage> => {
    const url = await openEntrance(emulator, outputs[stackName(name)]?.BaseUrl ?? "");
    const issue = ["issue", "--owner", "deployment test", "--yes", "--stage", name];
    return { name, url, ...(await keysJson(issue, environment)) };
  };
  const staging = await openStage("staging");
  const production = await openStage("production");

  for (const { name, url, key } of [staging, production]) {
    step(`Run the contract suite against ${name}`);
    await runContractSuite(url, key);
  }

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
  await testRevocation([staging, production], environment);

  step("Destroy staging: production keeps working");
  cdk(environment, "destroy", stackName("staging"), "--app", stages, "--force");
  const { code, stderr } = await keysCli(["list", "--stage", "staging"], environment);
  assert.equal(stderr, `keys: The stack ${stackName("staging")} is not deployed in ${REGION}.\n`);
  assert.equal(code, 1);
  const issue = ["issue", "--owner", "after", "--yes", "--stage", "production"];
  const { key } = await keysJson(issue, environment);
  assert.equal((await send(production.url, { path: "/pets", key })).status, 200);

  console.log("\nThe deployment works, without what the emulator does not support:");
  for (const resource of removed) console.log(`- ${resource}`);
}
