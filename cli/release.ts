import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { Command, InvalidArgumentError } from "commander";
import { configureProgram, orUndo, runProgram } from "./run-program.ts";

/** `npm run release -- <version>`: commits and tags a new version. npm runs it in the folder of package.json. */

const execute = promisify(execFile);

const git = async (...args: string[]): Promise<string> => (await execute("git", args)).stdout.trim();

function parseVersion(text: string): string {
  // npm refuses numbers above 2^53 - 1.
  if (/^(0|[1-9]\d{0,14})(\.(0|[1-9]\d{0,14})){2}$/.test(text)) return text;
  throw new InvalidArgumentError("It must have the form 1.2.3.");
}

/** The entries for the next version. @throws Error if there are none */
function unreleased(changelog: string): string {
  const [, after = ""] = changelog.split(/^## Unreleased$/m);
  const [section = ""] = after.split(/^## /m);
  if (!/^- /m.test(section)) throw new Error('The section "Unreleased" of CHANGELOG.md is empty.');
  return section.trim();
}

/** @throws Error that names what prevents the release */
async function check(version: string, tag: string): Promise<void> {
  if ((await git("branch", "--show-current")) !== "main") throw new Error("Switch to the branch main.");
  if (await git("status", "--porcelain")) throw new Error("Commit or remove your changes first.");
  const { version: current } = JSON.parse(await readFile("package.json", "utf8"));
  if (version.localeCompare(current, "en", { numeric: true }) <= 0)
    throw new Error(`The version must be higher than ${current}.`);
  if (await git("tag", "--list", tag)) throw new Error(`The tag ${tag} already exists.`);
}

async function release(version: string): Promise<void> {
  const tag = `v${version}`;
  await check(version, tag);
  const changelog = await readFile("CHANGELOG.md", "utf8");
  const section = unreleased(changelog);
  const date = new Date().toISOString().slice(0, 10);
  const dated = changelog.replace(/^## Unreleased$/m, `$&\n\n## ${version} - ${date}`);
  const head = await git("rev-parse", "HEAD");
  // Only the last step makes what `git reset` does not undo.
  const steps: (() => Promise<unknown>)[] = [
    () => writeFile("CHANGELOG.md", dated),
    () => execute("npm", ["version", version, "--no-git-tag-version"]),
    // A process of its own reads the new version.
    () => execute(process.execPath, ["openapi/write-document.ts"]),
    () => git("commit", "--all", "--message", `Release ${version}`),
    // By default git removes lines that start with "#", and so the headings.
    () => git("tag", "--annotate", "--cleanup=whitespace", "--message", section, tag),
  ];
  await orUndo(
    async (interruption) => {
      for (const step of steps) {
        interruption.throwIfAborted();
        await step();
      }
    },
    () => git("reset", "--hard", head), // loses nothing, because there were no changes
  );
  console.log(`Committed and tagged ${tag}. To publish it: git push --atomic origin main ${tag}`);
}

/** The command, for tests in their own process. */
export const program = configureProgram(new Command("npm run release --"))
  .description(
    'Dates the section "Unreleased" of CHANGELOG.md as a new version, sets the version, and creates a commit and a tag. It pushes nothing.',
  )
  .argument("<version>", "such as 1.2.0", parseVersion)
  .action(release);

if (import.meta.main) process.exitCode = await runProgram(program, "release");
