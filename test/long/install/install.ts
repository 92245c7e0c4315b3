import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../../..");

/** Majors of Node, each with the npm that comes with it, and what people on Node 20 update npm to. */
const HOSTS = ["20 10.8.2", "20 10.9.9", "20 11.0.0", "22 10.9.9", "24 11.19.0", "26 11.20.0"];

/** What is run in a copy. Each command fails the test with all that was printed, and the service ends with the shell. */
const COMMANDS = `set -e
npm ci
npm start > service.log & trap "kill $!; wait" EXIT
until grep -q ^Docs: service.log; do kill -0 $!; sleep 1; done
eval "export $(grep -E '^(BASE_URL|API_KEY)=' service.log | xargs)"
curl --fail-with-body -H "Authorization: Bearer $API_KEY" "$BASE_URL/pets"
sh local/node.sh examples/demo.ts
npm run keys -- list --stage local
npx cdk synth --quiet animal-store-staging
npx jest cursor
npm install is-number@7.0.0 && npx jest cursor
npm uninstall is-number && npx jest cursor
npm prune && npm run docs`;

/**
 * Installs and uses copies of this checkout, each with another Node and npm, and with nothing of the user but npm's cache.
 *
 * @throws Error with all that was printed
 */
export async function testInstallation(): Promise<void> {
  const { optionalDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const platform = `-${process.platform}-${process.arch}`;
  const nodePackage = Object.keys(optionalDependencies).find((name) => name.endsWith(platform)) ?? "";
  const shell = promisify(execFile);
  const configOf = async (name: string) => (await shell("npm", ["config", "get", name])).stdout.trim();
  const [npm_config_cache, npm_config_registry] = [await configOf("cache"), await configOf("registry")];
  const variables = Object.entries(process.env).filter(([name]) => !/^(AWS|GIT|npm|XDG)_/i.test(name));

  for (const host of HOSTS) {
    const [node, npm] = host.split(" ");
    await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-install-"));
    const path = (name: string) => join(folder.path, name);
    const env = {
      ...Object.fromEntries(variables),
      HOME: path("home"),
      npm_config_cache,
      npm_config_registry,
      PORT: "0",
    };
    const run = async (command: string, cwd: string, environment: object) => {
      const child = spawn("bash", ["-c", `exec 2>&1; ${command}`], { cwd, env: { ...env, ...environment } });
      const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
      assert.equal(code, 0, `Node ${node} with npm ${npm}:\n${output}`);
    };
    await run(
      `npm install --prefix tools --no-audit --no-fund ${nodePackage}@${node} npm@${npm}`,
      folder.path,
      {},
    );
    const left = new Set([".git", "node_modules", "build", "cdk.out", ".animal-store"]);
    await cp(root, path("checkout"), { recursive: true, filter: (file) => !left.has(basename(file)) });

    // What an editor or an agent adds to the user's NODE_OPTIONS, to see each process.
    const log = path("processes");
    const append = `appendFileSync(${JSON.stringify(log)}, process.version + process.argv.join(" ") + "\\n")`;
    await writeFile(path("agent.cjs"), `require("node:fs").${append};`);
    await run(COMMANDS, path("checkout"), {
      PATH: `${path("tools/node_modules/.bin")}:${process.env.PATH}`,
      NODE_OPTIONS: `--require ${path("agent.cjs")}`,
    });
    const processes = await readFile(log, "utf8");
    for (const program of ["local/start.ts", "infra/app.ts", "cli/keys.ts", "jest"])
      assert.match(processes, new RegExp(`^v${optionalDependencies[nodePackage]}.*/${program}`, "m"));
    console.log(`Node ${node} with npm ${npm}: works`);
  }
}
