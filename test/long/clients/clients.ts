import assert from "node:assert/strict";
import { exec } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { codeBlocks } from "../../support/code-blocks.ts";
import { startService } from "../../support/local-service.ts";

const root = join(import.meta.dirname, "../../..");

/** What runs the program in each folder, in the order of docs/clients.md, whose commands generate the clients. */
const PROGRAMS = {
  go: "go mod tidy && go run .",
  python: "python main.py",
  typescript: `tsc --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2024 --allowImportingTsExtensions openapi-fetch.ts &&
    esbuild openapi-fetch.ts --bundle --platform=node --format=esm --log-level=error --outfile=program.mjs &&
    "${process.execPath}" program.mjs`,
};
/** How the example client runs on other runtimes than Node 24. */
const RUNTIMES = {
  "Node 22": "node demo.ts",
  Deno: "deno run --allow-net --allow-env demo.ts",
  Bun: "bun run demo.ts",
};

/** Compiles a copy of the example client as README says and as strictly as possible, with the oldest and newer compilers. */
async function compileCopy(folder: string, run: (subfolder: string, command: string) => Promise<string>) {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [, oldest, options] = /TypeScript (\S+) or later.*`npx tsc --init (.*?)`/s.exec(readme) ?? [];
  await cp(join(root, "examples"), join(folder, "typescript/copy"), { recursive: true });
  const typescript = join(folder, "typescript/node_modules/typescript");
  for (const compiler of [`${typescript}-${oldest}`, typescript, join(root, "node_modules/typescript")]) {
    const tsc = `"${process.execPath}" "${compiler}/bin/tsc"`;
    await run("typescript/copy", `rm -f tsconfig.json && ${tsc} --init ${options} && ${tsc}`);
    const output = await run("typescript/copy", `${tsc} --project ../strictest.json ${options} && ${tsc} -v`);
    console.log(`examples/client.ts compiles with TypeScript, ${output.trim()}`);
  }
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

  console.log("Installing the generators ...");
  await run("typescript", "npm install --no-audit --no-fund");
  await run("python", "python3 -m venv venv");
  await run("python", "pip install --quiet --requirement requirements.txt");

  const guide = await readFile(join(root, "docs/clients.md"), "utf8");
  const blocks = codeBlocks(guide, "sh");
  for (const [name, program] of Object.entries(PROGRAMS)) {
    await cp(join(root, "openapi.json"), join(folder, name, "openapi.json"));
    await run(name, `set -e\n${blocks.shift()}`);
    assert.deepEqual(JSON.parse(await run(name, program)), {
      categoryId: "9223372036854775807",
      listed: 1,
      got: true,
      errors: ["invalid_request", "unauthorized", "not_found"],
    });
    console.log(`docs/clients.md, ${name}: works`);
  }

  await compileCopy(folder, run);
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
