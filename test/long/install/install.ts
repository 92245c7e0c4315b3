import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cp, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "../../..");
const LEFT_OUT = new Set([".git", "node_modules", "build", "cdk.out", ".animal-store"]);

/** Majors of Node, each with the npm that comes with it, and what people on Node 20 update npm to. */
const HOSTS = ["20 10.8.2", "20 10.9.9", "20 11.0.0", "22 10.9.9", "24 11.19.0", "26 11.20.0"];

/** What is run beside a copy. The service ends with the shell. */
const COMMANDS = `
export npm_config_cache=$(npm config get cache) npm_config_registry=$(npm config get registry) HOME=$PWD
export PORT=0 CI=true AWS_EC2_METADATA_DISABLED=true
set -- $HOST
npm install --prefix tools --no-audit --no-fund $NAME@$1 npm@$2
export PATH=$PWD/tools/node_modules/.bin:$PATH NODE_OPTIONS="--require $AGENT"
cd checkout
npm ci
npm start > ../service.log & trap "kill $!; wait" EXIT
until grep -q ^Docs: ../service.log; do kill -0 $!; sleep 1; done
eval "export $(grep -E '^(BASE_URL|API_KEY)=' ../service.log | xargs)"
curl --fail-with-body -H "Authorization: Bearer $API_KEY" "$BASE_URL/pets"
sh local/node.sh examples/demo.ts
npm run keys -- list --stage local
npx cdk synth --quiet --no-notices animal-store-staging
npx jest cursor
npm install is-number@7.0.0
npx jest cursor
npm uninstall is-number
npx jest cursor
npm prune
npm run docs`;

/**
 * Installs and uses copies of this checkout, each with another Node and npm, and with nothing of the user but npm's cache.
 *
 * @throws Error with all that was printed
 */
export async function testInstallation(): Promise<void> {
  const { optionalDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const platform = `-${process.platform}-${process.arch}`;
  const nodePackage = Object.keys(optionalDependencies).find((name) => name.endsWith(platform)) ?? "";
  const kept = Object.entries(process.env).filter(([name]) => !/^(AWS|GIT|npm|XDG)_/i.test(name));
  for (const host of HOSTS) {
    await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-install-"));
    const [agent, processes] = [join(folder.path, "agent.cjs"), join(folder.path, "processes")];
    // What an editor or an agent adds to the user's NODE_OPTIONS sees each process.
    const line = `process.version + process.argv.join(" ") + "\\n"`;
    await writeFile(agent, `require("node:fs").appendFileSync(${JSON.stringify(processes)}, ${line});`);
    await cp(root, join(folder.path, "checkout"), {
      recursive: true,
      filter: (file) => !LEFT_OUT.has(basename(file)),
    });
    const env = { ...Object.fromEntries(kept), NAME: nodePackage, HOST: host, AGENT: agent };
    const options = { cwd: folder.path, env, encoding: "utf8" } as const;
    const { status, stdout } = spawnSync("bash", ["-ec", `exec 2>&1; ${COMMANDS}`], options);
    assert.equal(status, 0, `Node ${host}:\n${stdout}`);
    for (const program of ["local/start.ts", "infra/app.ts", "cli/keys.ts", "jest"])
      assert.match(
        await readFile(processes, "utf8"),
        new RegExp(`^v${optionalDependencies[nodePackage]}.*/${program}`, "m"),
      );
    console.log(`Node and npm ${host}: works`);
  }
}
