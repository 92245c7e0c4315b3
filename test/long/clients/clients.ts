import assert from "node:assert/strict";
import { exec } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { startService } from "../../support/local-service.ts";

const root = join(import.meta.dirname, "../../..");

/** The programs in each folder, and the commands that generate the client. The last one runs the program. */
const PROGRAMS = {
  "go: oapi-codegen": [
    "go mod tidy -e",
    "mkdir petstore",
    "go tool oapi-codegen -generate types,client -package petstore -o petstore/client.gen.go ../openapi.json",
    "go mod tidy",
    "go run .",
  ],
  "python: openapi-python-client": [
    "openapi-python-client generate --path ../openapi.json --meta none --output-path petstore",
    "python main.py",
  ],
  "typescript: openapi-fetch": [
    "openapi-typescript ../openapi.json -o api.d.ts",
    "tsc --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2024 --allowImportingTsExtensions openapi-fetch.ts",
    "esbuild openapi-fetch.ts --bundle --platform=node --format=esm --log-level=error --outfile=program.mjs",
    `"${process.execPath}" program.mjs`,
  ],
};
/** How the example client runs where Node 24 does not strip its types. */
const RUNTIMES = {
  "Node 20": "node demo.mjs",
  Deno: "deno run --allow-net --allow-env demo.ts",
  Bun: "bun run demo.ts",
};

/** Runs the commands of "Use the API" in README.md as a user pastes them, one after the other. */
async function testReadme(run: (subfolder: string, command: string) => Promise<string>): Promise<void> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [, section = ""] = /^## Use the API$(.*?)^## /ms.exec(readme) ?? [];
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block);
  const curl = `curl() { command curl --silent --write-out '%{stderr}(%{http_code})' "$@"; }`;
  const output = await run(".", `${curl}\n{ ${blocks.join("\n")} } 2>&1`);
  const statuses = [...output.matchAll(/\((\d{3})\)/g)].map(([, status]) => status);
  // Add, add with a key, list, list for the id, get.
  assert.deepEqual(statuses, ["201", "201", "200", "200", "200"], output);
  assert.match(output, /^link: <[^>]+cursor=[^>]+>; rel="next"\r$/im);
  console.log("README.md, Use the API: works");
}

/**
 * Generates the clients, and uses each with a local service.
 *
 * @throws Error when one does not work, or a tool is missing
 */
export async function testClients(): Promise<void> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), "animal-store-clients-"));
  const { path: folder } = temporary;
  await using service = await startService({ DATA_DIR: join(folder, "data") });
  await cp(import.meta.dirname, folder, { recursive: true });
  for (const name of ["examples", "openapi.json", "schemathesis.toml"])
    await cp(join(root, name), join(folder, name), { recursive: true });

  const tools = [join(folder, "python/venv/bin"), join(folder, "typescript/node_modules/.bin")];
  const environment = {
    ...process.env,
    NODE_OPTIONS: "",
    PATH: [...tools, join(root, "node_modules/.bin"), process.env.PATH].join(delimiter),
    BASE_URL: service.baseUrl,
    API_KEY: service.key,
  };
  /** Runs a command in a subfolder. @throws Error with everything that it printed if it fails */
  const run = async (subfolder: string, command: string) => {
    const env = { ...environment, IDEMPOTENCY_KEY: randomUUID() };
    const options = { cwd: join(folder, subfolder), env, maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await promisify(exec)(command, options).catch(({ stdout, stderr }) => {
      throw new Error(`${command} failed:\n${stdout}${stderr}`);
    });
    return stdout;
  };

  await testReadme(run);
  console.log("Installing the generators ...");
  await run("typescript", "npm install --no-audit --no-fund");
  await run("python", "python3 -m venv venv");
  await run("python", "pip install --quiet --requirement requirements.txt");

  for (const [name, commands] of Object.entries(PROGRAMS)) {
    let output = "";
    for (const command of commands) output = await run(name.split(":")[0] ?? "", command);
    assert.deepEqual(JSON.parse(output), {
      categoryId: "9223372036854775807",
      listed: 1,
      got: true,
      errors: ["invalid_request", "unauthorized", "not_found"],
    });
    console.log(`${name}: works`);
  }

  await run("examples", "esbuild demo.ts --bundle --platform=node --format=esm --outfile=demo.mjs");
  for (const [name, command] of Object.entries(RUNTIMES)) {
    assert.match(await run("examples", command), /^Added Rex as \d+\.\nAdded Tom as \d+\./);
    console.log(`examples/client.ts on ${name}: works`);
  }

  // schemathesis.toml says which rejections of valid requests are right.
  const options = `--url $BASE_URL --header "Authorization: Bearer $API_KEY" --checks all`;
  for (const seed of [1, 2, 3]) {
    const output = await run(".", `schemathesis run openapi.json ${options} --seed ${seed}`);
    console.log(`schemathesis, seed ${seed}: ${/\d+ generated.*/.exec(output)?.[0]}`);
  }
}
