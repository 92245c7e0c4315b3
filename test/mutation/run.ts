import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { synthesize } from "../../infra/assembly/synthesize.ts";
import { startTestStore } from "../support/test-store.ts";
import { slices } from "./slices.ts";

const chosen = process.argv.slice(2);
const all = Object.keys(slices);
if (!chosen.every((slice) => all.includes(slice))) {
  console.error(`Usage: npm run test:mutation -- [${all.join("|")}] ...`);
  process.exit(chosen.includes("--help") ? 0 : 2);
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));

async function run(command: string, args: string[], environment: Record<string, string> = {}): Promise<void> {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}.`);
}

const assembly = await mkdtemp(join(tmpdir(), "animal-store-mutation-"));
await synthesize(assembly, ["*"]);
const store = await startTestStore(assembly);
try {
  await mkdir(join(root, "build", "mutation"), { recursive: true });
  await run("npm", ["ci", "--prefix", here, "--ignore-scripts", "--silent"]);
  for (const slice of chosen.length > 0 ? chosen : all) {
    const stryker = join(here, "node_modules/@stryker-mutator/core/bin/stryker.js");
    await run(process.execPath, [stryker, "run", join(here, "stryker.config.js")], { MUTATION_SLICE: slice });
  }
} finally {
  await store.close();
  await rm(assembly, { recursive: true });
}
