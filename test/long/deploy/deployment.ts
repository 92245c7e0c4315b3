import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { accountStackName, stackName } from "../../../infra/names.ts";
import { localStage } from "../../../infra/stages.ts";
import { synthesizeAccount } from "../../../tools/generate/account.ts";
import { exampleSettings } from "../../../tools/generate/example-settings.ts";
import { synthesize } from "../../../tools/local/synthesize.ts";
import { codeBlocks } from "../../support/code-blocks.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/http.ts";
import { editTemplates, openEntrance, removeUnsupported, startMiniStack } from "./ministack.ts";

const root = join(import.meta.dirname, "../../..");

const step = (text: string) => console.log(`\n== ${text}`);

/**
 * Deploys the stacks to MiniStack, an emulator of AWS, and tests them there.
 *
 * @throws Error when something does not work, or MiniStack cannot be installed
 */
export async function testDeployment(): Promise<void> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), "animal-store-deploy-"));
  const newFolder = () => mkdtempSync(join(temporary.path, "folder-"));

  step("Install MiniStack, cfn-lint and the AWS CLI into a virtual environment");
  const packages = ["ministack==1.5.33", "cfn-lint==1.58.0", "awscli==1.46.3"];
  const venv = newFolder();
  execFileSync("python3", ["-m", "venv", venv], { stdio: "inherit" });
  execFileSync(join(venv, "bin/pip"), ["install", "--quiet", ...packages], { stdio: "inherit" });
  using miniStack = await startMiniStack(join(venv, "bin/ministack"), newFolder());
  const { AWS_ENDPOINT_URL: endpoint } = miniStack.environment;

  const stages = newFolder();
  /** Runs commands of a shell. @param input what is typed when they ask @returns what they print @throws when they fail */
  const run = async (commands: string, input = "") => {
    // The CDK CLI reads its options from such variables, too. --force publishes a template that was changed in place.
    const options = { CDK_APP: stages, CDK_REQUIRE_APPROVAL: "never", CDK_FORCE: "true" };
    const env = { PATH: process.env.PATH, CI: "true", ...options, ...miniStack.environment };
    const started = promisify(execFile)("bash", ["-ec", commands], { cwd: root, env, timeout: 180_000 });
    started.child.stdin?.end(input);
    return (await started).stdout;
  };
  const deploy = (assembly: string, ...stacks: string[]) =>
    run(`npx cdk deploy ${stacks.join(" ")} --exclusively --app "${assembly}"`);

  step("Synthesize, and lint the templates with cfn-lint");
  await synthesize(stages);
  // MiniStack has no resource for a budget; npm test compares the stack that creates it.
  const account = newFolder();
  synthesizeAccount({ githubRepository: exampleSettings.githubRepository }, account);
  const templates = [account, stages].map((assembly) => join(assembly, "*.template.json"));
  // W3005: CDK repeats a dependency that a reference already makes.
  const lint = ["--ignore-checks", "W3005", "--", ...templates];
  execFileSync(join(venv, "bin/cfn-lint"), lint, { stdio: "inherit" });
  removeUnsupported(account);
  const removed = removeUnsupported(stages);

  step("Bootstrap, deploy staging and send a request, as README says");
  const [, section = ""] = readFileSync(join(root, "README.md"), "utf8").split(/^### Deploy it$/m);
  const [bootstrap = "", deployStaging = "", issueKey = "", ask = "", request = "", destroy = ""] =
    codeBlocks(section, "sh");
  await run(bootstrap);
  /** Gives a stage an entrance and a key with both scopes. @param printed by its deployment */
  const open = async (name: string, printed: string) => {
    const output = (id: string) => new RegExp(`${stackName(name)}.${id} = (\\S+)`).exec(printed)?.[1] ?? "";
    const url = await openEntrance(endpoint, output("BaseUrl"));
    const issued = await run(issueKey.replace("staging", name));
    const [keyId, key = ""] = issued.match(new RegExp(`key_\\w+|\\w+_${name}_\\w+`, "g")) ?? [];
    const get = (path: string) => send(url, { path, key });
    return { name, url, table: output("PetsTableName"), keyId, key, get };
  };
  const staging = await open("staging", await run(deployStaging));
  const response = await run(ask + request, `${staging.url}\n${staging.key}\n`);
  assert.match(response, /^HTTP\/1.1 200 [\s\S]*\n\[\]$/m);

  step("Deploy the account stack for an example repository");
  const roles = await deploy(account, accountStackName);
  assert.match(roles, /\.ProductionDeployRoleArn = [\s\S]*\.StagingDeployRoleArn = /);

  step("Fail to create production, repeat it without protection, protect it");
  const options = newFolder();
  process.env.CDK_CONTEXT_JSON = JSON.stringify({ deletionProtection: "off" });
  await synthesize(options);
  removeUnsupported(options);
  editTemplates(options, ({ Resources }) => {
    const tables = Object.keys(Resources).filter((id) => Resources[id].Type === "AWS::DynamoDB::Table");
    Resources.Failing = { Type: "AWS::CloudWatch::Alarm", Properties: {}, DependsOn: tables };
  });
  await assert.rejects(deploy(options, stackName("production")), /Failing/);
  editTemplates(options, ({ Resources }) => delete Resources.Failing);
  // The failed creation has left nothing behind that keeps this one from succeeding.
  await deploy(options, stackName("production"));
  const production = await open("production", await deploy(stages, stackName("production")));

  for (const { name, url, key } of [staging, production]) {
    step(`Run the contract suite against ${name}`);
    await run(`CONTRACT_URL=${url} CONTRACT_KEY=${key} npm run test:contract`);
  }

  step("Each stage refuses the keys of the other and has data of its own");
  for (const { name, url } of [staging, production])
    for (const other of [staging, production]) {
      const { status } = await send(url, { path: "/pets", key: other.key });
      assert.equal(status, other.name === name ? 200 : 401, `${name}, with a key of ${other.name}`);
    }
  const add = async () => {
    const headers: [string, string][] = [["Idempotency-Key", "deployment-test"]];
    const body = '{"name":"Deployment test","categoryId":0,"status":"sold"}';
    const creation = { method: "POST", path: "/pets", key: staging.key, headers, body };
    const { text } = await send(staging.url, creation);
    return /"id":(\d+)/.exec(text)?.[1];
  };
  const id = await add();
  const found = await staging.get(`/pets/${id}`);
  assert.deepEqual([found.status, found.headers.get("cache-control")], [200, "no-store"]);
  assert.equal((await production.get(`/pets/${id}`)).status, 404);

  step("Deploy staging again with changed functions: the new code serves, the data is kept");
  const copy = newFolder();
  await run(`cp -r cdk.json functions infra lib package.json "${copy}"; ln -s "$PWD/node_modules" "${copy}"`);
  /** Changes a file of the copy. @returns the assembly of the changed copy */
  const change = async (file: string, before: string, after: string) => {
    const sources = readFileSync(join(copy, file), "utf8").split(before);
    assert.equal(sources.length, 2, `${before} is not once in ${file}`);
    writeFileSync(join(copy, file), sources.join(after));
    const changed = newFolder();
    await run(`CDK_VALIDATION=false CDK_OUTDIR="${changed}" sh tools/node.sh "${copy}/infra/app.ts"`);
    removeUnsupported(changed);
    return changed;
  };
  await deploy(
    await change("lib/http/handler.ts", '"no-store"', '"no-store, private"'),
    stackName("staging"),
  );
  const sent = async (path: string, status: number, cacheControl: string) => {
    const { headers, ...response } = await staging.get(path);
    assert.deepEqual([response.status, headers.get("cache-control")], [status, cacheControl]);
  };
  await sent(`/pets/${id}`, 200, "no-store, private");

  step("Go back to the first version of listPets with tools/operator.sh");
  const programs = newFolder();
  const aws = `case "$*" in *BaseUrl*) echo ${staging.url} ;; *) exec "${venv}/bin/aws" "$@" ;; esac`;
  writeFileSync(join(programs, "aws"), `#!/bin/bash\n${aws}\n`, { mode: 0o755 });
  const withAws = `export AWS_DEFAULT_REGION=$AWS_REGION PATH="${programs}:$PATH"`;
  const told = await run(`${withAws}
    . tools/operator.sh; STACK=${stackName("staging")}; FUNCTION=$(output ListPetsFunctionName)
    state; output PetsTableName; versions; live 1 >&2; serving; throttle 5 9; pet ${id}`);
  const lines = ["staging\tUPDATE_COMPLETE\t.*", staging.table, "2", "(20.*\t.*\n)+1", "5\\.0\t9"];
  assert.match(told, new RegExp(`${lines.join("\n")}\n[^]*"Deployment test"`));
  await sent("/pets?limit=1", 200, "no-store");

  step("Deploy a getPet that fails with tools/deploy.sh: all functions serve what they served before");
  const judge = (assembly: string) =>
    run(`${withAws} API_KEY=${staging.key} CDK_APP="${assembly}"; bash tools/deploy.sh staging`);
  const failing = await change("functions/get-pet.ts", "if (!pet)", 'throw new Error("failing"); if (!pet)');
  await assert.rejects(judge(failing), { stdout: /^Rolled back: GetPet got wrong answers\.$/m });
  await sent(`/pets/${id}`, 200, "no-store, private");
  await sent("/pets?limit=1", 200, "no-store");

  step("Deploy the repair: it is served, and so is the listPets that CloudFormation knows");
  const repaired = await judge(await change("functions/get-pet.ts", 'throw new Error("failing"); ', ""));
  assert.match(repaired, /^Deployed\.$/m);
  for (const path of [`/pets/${id}`, "/pets?limit=1"]) await sent(path, 200, "no-store, private");

  step("Remove the pet, and send its creation again: no list has it any more");
  const listed = async () => (await staging.get("/pets?status=sold&limit=100")).text;
  assert.match(await listed(), /"Deployment test"/);
  const deleted = await run(`sh tools/node.sh tools/cli/delete-pet.ts --stage staging ${id}`);
  assert.match(deleted, /"name":"Deployment test".*: deleted\.\n$/);
  assert.equal(await add(), id);
  assert.doesNotMatch(await listed(), /"Deployment test"/);

  step("Revoke the key of staging: refused when the gateway's cache has expired");
  await run(`npm run keys -- revoke ${staging.keyId} --stage staging`);
  await eventually(
    () => staging.get("/pets"),
    ({ status }) => assert.equal(status, 401, "A revoked key still works after the cache's time."),
    { seconds: localStage.authorizerCacheSeconds + 5 },
  );

  step("Destroy staging as README says: production keeps working");
  await run(destroy);
  await assert.rejects(run("npm run keys -- list --stage staging"), /^keys: The stack .* cannot be read: /m);
  assert.equal((await production.get("/pets")).status, 200);

  console.log("\nThe deployment works, without what MiniStack does not support:");
  for (const resource of removed) console.log(`- ${resource}`);
}
