import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { startService } from "../../support/local-service.ts";

/** `npm run test:clients`: generates clients in three languages and uses them with the local service. */

const usage = `Usage: npm run test:clients

Generates clients from openapi.json and uses each with a local service: oapi-codegen (Go), openapi-python-client
(Python), openapi-typescript and @hey-api/openapi-ts (TypeScript). Runs the example client on Node 20, Deno and Bun, and
schemathesis with three seeds. Everything is installed into a temporary folder.

Needs: Go 1.24 or later, Python 3.10 or later with venv, and access to npm, PyPI and the Go module proxy.`;

if (parseArgs({ options: { help: { type: "boolean", short: "h" } } }).values.help) {
  console.log(usage);
  process.exit();
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "animal-store-clients-"));
const bin = join(folder, "python", "venv", "bin");
const env: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_OPTIONS: "",
  PATH: [bin, process.env.PATH].join(delimiter),
};

/** Runs a command in a subfolder. @throws Error with everything that it printed if it fails */
async function run(subfolder: string, command: string, ...args: string[]): Promise<string> {
  const options = { cwd: join(folder, subfolder), env, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(command, args, options).catch((error) => {
    throw new Error(
      `${command} ${args.join(" ")} failed:\n${error.stdout ?? ""}${error.stderr ?? error.message}`,
    );
  });
  return stdout;
}

/** @throws Error that names what is missing: a client that cannot be tested fails the run */
async function checkTools(): Promise<void> {
  const tools = { go: ["version"], python3: ["-c", "import venv, ensurepip"] };
  for (const [command, args] of Object.entries(tools)) {
    await run("", command, ...args).catch(() => {
      throw new Error(`${command} is missing.\n\n${usage}`);
    });
  }
}

/** Runs a client program, and checks what it reports about the pet that it added. */
async function use(name: string, subfolder: string, command: string, ...args: string[]): Promise<void> {
  env.IDEMPOTENCY_KEY = randomUUID();
  assert.deepEqual(JSON.parse(await run(subfolder, command, ...args)), {
    categoryId: "9223372036854775807",
    listed: 1,
    got: true,
    errors: ["invalid_request", "unauthorized", "not_found"],
  });
  console.log(`${name}: works`);
}

async function testGo(): Promise<void> {
  const config = ["-generate", "types,client", "-package", "petstore", "-o", "petstore/client.gen.go"];
  await run("go", "go", "mod", "tidy", "-e");
  await run("go", "mkdir", "petstore");
  await run("go", "go", "tool", "oapi-codegen", ...config, join(root, "openapi.json"));
  await run("go", "go", "mod", "tidy");
  await use("Go, oapi-codegen", "go", "go", "run", ".");
}

async function testPython(): Promise<void> {
  const generate = ["generate", "--meta", "none", "--output-path", "petstore", "--path"];
  await run("python", "openapi-python-client", ...generate, join(root, "openapi.json"));
  await use("Python, openapi-python-client", "python", "python", "main.py");
}

async function testTypeScript(): Promise<void> {
  const document = join(root, "openapi.json");
  await run("typescript", "npx", "openapi-typescript", document, "-o", "api.d.ts");
  await run("typescript", "npx", "openapi-ts", "-i", document, "-o", "hey-api");
  const programs = ["openapi-fetch.ts", "hey-api.ts"];
  const check = "--noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2024";
  await run("typescript", "npx", "tsc", ...check.split(" "), "--allowImportingTsExtensions", ...programs);
  for (const program of programs) {
    await bundle(program, "program.mjs");
    await use(`TypeScript, ${program}`, "typescript", process.execPath, "program.mjs");
  }
}

/** Turns a TypeScript program into one JavaScript file, which any runtime can run. */
async function bundle(entry: string, outfile: string): Promise<void> {
  const esbuild = join(root, "node_modules", ".bin", "esbuild");
  const options = ["--bundle", "--platform=node", "--format=esm", "--log-level=error"];
  await run("typescript", esbuild, entry, ...options, `--outfile=${outfile}`);
}

/** Runs the example client where TypeScript is not stripped by Node 24. */
async function testExample(): Promise<void> {
  const demo = join(root, "examples", "demo.ts");
  await bundle(demo, "demo.mjs");
  const runtimes = {
    "Node 20": ["node", "demo.mjs"],
    Deno: ["deno", "run", "--allow-net", "--allow-env", demo],
    Bun: ["bun", "run", demo],
  };
  for (const [name, [command = "", ...args]] of Object.entries(runtimes)) {
    const installed = join(folder, "typescript", "node_modules", ".bin", command);
    assert.match(await run("typescript", installed, ...args), /^Added Rex as \d+\.\nAdded Tom as \d+\./);
    console.log(`examples/client.ts on ${name}: works`);
  }
}

/** schemathesis.toml says which rejections of valid requests are right. */
async function testWithSchemathesis(): Promise<void> {
  const options = ["--url", String(env.BASE_URL), "--checks", "all"];
  const header = ["--header", `Authorization: Bearer ${env.API_KEY}`];
  const config = ["--config-file", join(root, "schemathesis.toml")];
  for (const seed of ["1", "2", "3"]) {
    const output = await run(
      "python",
      "schemathesis",
      ...config,
      "run",
      join(root, "openapi.json"),
      ...options,
      ...header,
      "--seed",
      seed,
    );
    console.log(`schemathesis, seed ${seed}: ${/\d+ generated.*/.exec(output)?.[0]}`);
  }
}

const service = await startService({ DATA_DIR: join(folder, "data") });
try {
  Object.assign(env, { BASE_URL: service.baseUrl, API_KEY: service.key });
  await checkTools();
  await cp(fileURLToPath(new URL(".", import.meta.url)), folder, { recursive: true });
  console.log("Installing the generators ...");
  await run("typescript", "npm", "install", "--no-audit", "--no-fund");
  await run("python", "python3", "-m", "venv", "venv");
  await run("python", "pip", "install", "--quiet", "--requirement", "requirements.txt");
  await testGo();
  await testPython();
  await testTypeScript();
  await testExample();
  await testWithSchemathesis();
} catch (error) {
  console.error(`test:clients: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await service.stop();
  await rm(folder, { recursive: true });
}
