import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { synthesize } from "../../infra/assembly/synthesize.ts";
import { accountStack, stackName } from "../../infra/stages.ts";
import { exampleRepository, synthesizeAccount } from "../infra/account.ts";
import { keysCli } from "../support/keys-cli.ts";
import { changeFunctions, removeUnsupported } from "./assembly.ts";
import { type Emulator, installTools, openEntrance, REGION, startEmulator } from "./emulator.ts";

/**
 * `npm run test:deploy`: bootstraps and deploys the stacks with the real `cdk` to an emulator of AWS, and tests them there
 * over HTTP and with the operators' command. It needs python3 and its package index.
 */
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "animal-store-deploy-"));
const STAGES = ["staging", "production"] as const;

// Observed with this version of the emulator; AWS can behave differently.
const NOT_COVERED = [
  "IAM: the emulator allows every role everything (npm test compares the permissions)",
  "the OIDC provider of the account stack, and who can assume its roles",
  "throttling, the firewall, canary releases and rollbacks: accepted or removed, not imitated",
  "what alarms, dashboard and access logs do with real traffic",
  "time to live, point-in-time recovery and deletion protection of tables",
  "the domain name, DNS and TLS: a proxy of this script replaces them",
  "arm64, memory, cold starts and Lambda's own timeouts",
];

const step = (text: string) => console.log(`\n== ${text}`);
let emulator: Emulator | undefined;

const environment = () => emulator?.environment ?? {};

function cdk(...args: string[]): void {
  const npx = spawnSync(
    process.execPath,
    [join(root, "node_modules/aws-cdk/bin/cdk"), ...args, "--no-notices"],
    {
      cwd: root,
      env: { PATH: process.env.PATH, CI: "true", ...environment() },
      encoding: "utf8",
      timeout: 180_000,
    },
  );
  assert.equal(npx.status, 0, `cdk ${args.join(" ")} failed:\n${npx.stdout}${npx.stderr}`);
}

// biome-ignore lint/suspicious/noExplicitAny: what a command prints
async function keys(stage: string, ...args: string[]): Promise<any> {
  const run = await keysCli([...args, "--stage", stage, "--json"], environment());
  assert.equal(run.code, 0, run.stderr);
  return JSON.parse(run.stdout);
}

/** Runs asynchronously, because this process forwards its requests. */
async function runAgainst(url: string, key: string, script: string, ...options: string[]): Promise<void> {
  const args = [script, "--url", url, "--key", key, ...options];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit", timeout: 180_000 });
  const [code] = await once(child, "close");
  assert.equal(code, 0, `${script} failed.`);
}

const call = (baseUrl: string, path: string, key: string, body?: string) =>
  fetch(baseUrl + path, {
    ...(body && { method: "POST", body }),
    headers: { Authorization: `Bearer ${key}`, ...(body && { "Content-Type": "application/json" }) },
  });
const status = async (...args: Parameters<typeof call>) => (await call(...args)).status;

async function prove(): Promise<void> {
  step("Install the emulator and cfn-lint into a virtual environment");
  const tools = installTools(folder);

  step("Synthesize, and lint the templates with cfn-lint");
  const assembly = mkdtempSync(join(folder, "assembly-"));
  await synthesize(assembly, ["**"]);
  const account = mkdtempSync(join(folder, "account-"));
  // The emulator has no resource for an OIDC provider; npm test compares the stack that creates one.
  synthesizeAccount({ ...exampleRepository, providerExists: true }, account);
  const templates = [
    join(account, `${accountStack}.template.json`),
    ...STAGES.map((stage) => join(assembly, `${stackName(stage)}.template.json`)),
  ];
  // W3005: CDK repeats a dependency that a reference already makes.
  execFileSync(tools.linter, ["--ignore-checks", "W3005", "--regions", REGION, "--", ...templates], {
    stdio: "inherit",
  });
  const removed = removeUnsupported(assembly);

  step("Bootstrap, and deploy the account stack for an example repository");
  emulator = await startEmulator(tools, folder);
  const outputs = join(folder, "outputs.json");
  const deploy = (from: string, ...stacks: string[]) =>
    cdk("deploy", ...stacks, "--app", from, "--require-approval", "never", "--outputs-file", outputs);
  cdk("bootstrap", `aws://000000000000/${REGION}`, "--app", assembly);
  deploy(account, accountStack);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(outputs, "utf8"))[accountStack] ?? {}).sort(), [
    "DiffRoleArn",
    "productionDeployRoleArn",
    "stagingDeployRoleArn",
  ]);

  step("Deploy both stages");
  deploy(assembly, ...STAGES.map(stackName), "--exclusively");
  const deployed = JSON.parse(readFileSync(outputs, "utf8"));
  const urls: Record<string, string> = {};
  for (const stage of STAGES) {
    const { baseUrl, server } = await openEntrance(emulator, deployed[`animal-store-${stage}`].BaseUrl);
    server.unref();
    urls[stage] = baseUrl;
  }
  const { staging = "", production = "" } = urls;

  const issued: Record<string, { key: string; keyId: string }> = {};
  for (const stage of STAGES) {
    step(`Issue a key and run the contract suite against ${stage}`);
    const key = await keys(stage, "issue", "--name", "deployment test", "--yes");
    issued[stage] = key;
    await runAgainst(urls[stage] ?? "", key.key, "test/contract/run.ts");
  }
  const [stagingKey, productionKey] = [issued.staging?.key ?? "", issued.production?.key ?? ""];

  step("Measure staging from the client's side");
  await runAgainst(staging, stagingKey, "bench/stage/run.ts", "--seconds", "5");

  step("Each stage refuses the keys of the other and has data of its own");
  assert.equal(await status(production, "/pets", stagingKey), 401);
  assert.equal(await status(staging, "/pets", productionKey), 401);
  const created = await call(staging, "/pets", stagingKey, '{"name":"Only in staging","categoryId":1}');
  const { id } = (await created.json()) as { id: number };
  assert.equal(await status(staging, `/pets/${id}`, stagingKey), 200);
  assert.equal(await status(production, `/pets/${id}`, productionKey), 404);

  step("Deploy staging again with changed functions: the new code serves, the data is kept");
  const cacheControl = async () =>
    (await call(staging, `/pets/${id}`, stagingKey)).headers.get("cache-control");
  assert.equal(await cacheControl(), "no-store");
  const changed = join(folder, "assembly-changed");
  assert.equal(changeFunctions(assembly, changed, "no-store", "no-store, private"), 3);
  deploy(changed, "animal-store-staging", "--exclusively");
  assert.equal(await cacheControl(), "no-store, private");

  step("Revoke the keys: refused when the gateway's cache has expired");
  for (const stage of STAGES) {
    await keys(stage, "revoke", issued[stage]?.keyId ?? "", "--yes");
    const [record] = (await keys(stage, "list")).filter(
      ({ keyId }: { keyId: string }) => keyId === issued[stage]?.keyId,
    );
    assert.ok(record.revokedAt);
  }
  for (const stage of STAGES) {
    const end = Date.now() + 65_000;
    while ((await status(urls[stage] ?? "", "/pets", issued[stage]?.key ?? "")) !== 401) {
      assert.ok(Date.now() < end, `A revoked key still works in ${stage} after the cache's time.`);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  step("Destroy staging: production keeps working");
  cdk("destroy", "animal-store-staging", "--app", changed, "--force");
  const gone = await keysCli(["list", "--stage", "staging"], environment());
  assert.deepEqual(
    [gone.code, gone.stderr],
    [1, `keys: The stack animal-store-staging is not deployed in ${REGION}.\n`],
  );
  const last = await keys("production", "issue", "--name", "after", "--yes");
  assert.equal(await status(production, "/pets", last.key), 200);

  console.log("\nThe deployment works. Not covered here:");
  for (const line of [...removed.map((resource) => `removed from ${resource}`), ...NOT_COVERED])
    console.log(`- ${line}`);
}

try {
  await prove();
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  emulator?.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
