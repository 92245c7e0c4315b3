import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { startService } from "../../support/local-service.ts";

const root = join(import.meta.dirname, "../../..");
const openapi = join(root, "openapi.json");

/** A folder with a copy of the client programs, in which commands install, generate and run what they need. */
class Workspace {
  readonly folder: string;
  readonly #environment: NodeJS.ProcessEnv;

  /** @param variables of the client programs: BASE_URL and API_KEY */
  constructor(folder: string, variables: Record<string, string>) {
    this.folder = folder;
    const path = [join(folder, "python", "venv", "bin"), process.env.PATH].join(delimiter);
    this.#environment = { ...process.env, NODE_OPTIONS: "", PATH: path, ...variables };
  }

  /** Runs a command in a subfolder. @throws Error with everything that it printed if it fails */
  async run(subfolder: string, command: string, ...args: string[]): Promise<string> {
    const env = { ...this.#environment, IDEMPOTENCY_KEY: randomUUID() };
    const options = { cwd: join(this.folder, subfolder), env, maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await promisify(execFile)(command, args, options).catch((error) => {
      throw new Error(
        `${command} ${args.join(" ")} failed:\n${error.stdout ?? ""}${error.stderr ?? error.message}`,
      );
    });
    return stdout;
  }

  /** Runs a client program, and checks what it reports about the pet that it added. */
  async use(name: string, subfolder: string, command: string, ...args: string[]): Promise<void> {
    assert.deepEqual(JSON.parse(await this.run(subfolder, command, ...args)), {
      categoryId: "9223372036854775807",
      listed: 1,
      got: true,
      errors: ["invalid_request", "unauthorized", "not_found"],
    });
    console.log(`${name}: works`);
  }

  /** Turns a TypeScript program into one JavaScript file, which any runtime can run. */
  async bundle(entry: string, outfile: string): Promise<void> {
    const esbuild = join(root, "node_modules", ".bin", "esbuild");
    const options = ["--bundle", "--platform=node", "--format=esm", "--log-level=error"];
    await this.run("typescript", esbuild, entry, ...options, `--outfile=${outfile}`);
  }
}

async function install(workspace: Workspace): Promise<void> {
  await cp(import.meta.dirname, workspace.folder, { recursive: true });
  console.log("Installing the generators ...");
  await workspace.run("typescript", "npm", "install", "--no-audit", "--no-fund");
  await workspace.run("python", "python3", "-m", "venv", "venv");
  await workspace.run("python", "pip", "install", "--quiet", "--requirement", "requirements.txt");
}

async function testGo(workspace: Workspace): Promise<void> {
  const config = ["-generate", "types,client", "-package", "petstore", "-o", "petstore/client.gen.go"];
  await workspace.run("go", "go", "mod", "tidy", "-e");
  await workspace.run("go", "mkdir", "petstore");
  await workspace.run("go", "go", "tool", "oapi-codegen", ...config, openapi);
  await workspace.run("go", "go", "mod", "tidy");
  await workspace.use("Go, oapi-codegen", "go", "go", "run", ".");
}

async function testPython(workspace: Workspace): Promise<void> {
  const generate = ["generate", "--meta", "none", "--output-path", "petstore", "--path", openapi];
  await workspace.run("python", "openapi-python-client", ...generate);
  await workspace.use("Python, openapi-python-client", "python", "python", "main.py");
}

async function testTypeScript(workspace: Workspace): Promise<void> {
  await workspace.run("typescript", "npx", "openapi-typescript", openapi, "-o", "api.d.ts");
  await workspace.run("typescript", "npx", "openapi-ts", "-i", openapi, "-o", "hey-api");
  const programs = ["openapi-fetch.ts", "hey-api.ts"];
  const check =
    "--noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2024 --allowImportingTsExtensions";
  await workspace.run("typescript", "npx", "tsc", ...check.split(" "), ...programs);
  for (const program of programs) {
    await workspace.bundle(program, "program.mjs");
    await workspace.use(`TypeScript, ${program}`, "typescript", process.execPath, "program.mjs");
  }
}

/** Runs the example client where TypeScript is not stripped by Node 24. */
async function testExample(workspace: Workspace): Promise<void> {
  const demo = join(root, "examples", "demo.ts");
  await workspace.bundle(demo, "demo.mjs");
  const runtimes = {
    "Node 20": ["node", "demo.mjs"],
    Deno: ["deno", "run", "--allow-net", "--allow-env", demo],
    Bun: ["bun", "run", demo],
  };
  for (const [name, [command = "", ...args]] of Object.entries(runtimes)) {
    const installed = join(workspace.folder, "typescript", "node_modules", ".bin", command);
    const output = await workspace.run("typescript", installed, ...args);
    assert.match(output, /^Added Rex as \d+\.\nAdded Tom as \d+\./);
    console.log(`examples/client.ts on ${name}: works`);
  }
}

/** schemathesis.toml says which rejections of valid requests are right. */
async function testWithSchemathesis(workspace: Workspace, service: { baseUrl: string; key: string }) {
  const config = ["--config-file", join(root, "schemathesis.toml")];
  const target = ["--url", service.baseUrl, "--header", `Authorization: Bearer ${service.key}`];
  for (const seed of ["1", "2", "3"]) {
    const options = [...target, "--checks", "all", "--seed", seed];
    const output = await workspace.run("python", "schemathesis", ...config, "run", openapi, ...options);
    console.log(`schemathesis, seed ${seed}: ${/\d+ generated.*/.exec(output)?.[0]}`);
  }
}

/**
 * Generates the clients, and uses each with a local service.
 *
 * @throws Error when one does not work, or a tool is missing
 */
export async function testClients(): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-clients-"));
  await using service = await startService({ DATA_DIR: join(folder.path, "data") });
  const workspace = new Workspace(folder.path, { BASE_URL: service.baseUrl, API_KEY: service.key });
  await install(workspace);
  await testGo(workspace);
  await testPython(workspace);
  await testTypeScript(workspace);
  await testExample(workspace);
  await testWithSchemathesis(workspace, service);
}
