import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";

const github = new URL("../../.github/", import.meta.url);
const read = (file: string) => parse(readFileSync(new URL(file, github), "utf8"));

// biome-ignore lint/suspicious/noExplicitAny: untyped YAML
export type Untyped = Record<string, any>;
/** A job, with the steps of this repository's actions in place of those that use them. */
export type Job = Untyped & { steps: Untyped[] };

/** The steps of a job or an action. What an action gets stands in place of its inputs. */
function stepsOf(steps: Untyped[]): Untyped[] {
  return steps.flatMap((step) => {
    if (!step.uses?.startsWith("$/.github/")) return step;
    const { runs } = read(`${step.uses.slice("$/.github/".length)}/action.yml`);
    const filled = JSON.stringify(stepsOf(runs.steps)).replaceAll(
      /\$\{\{ inputs\.([\w-]+) \}\}/g,
      (_, name) => JSON.stringify(step.with[name] ?? "").slice(1, -1),
    );
    return JSON.parse(filled);
  });
}

/** The files of the workflows. */
export const workflowFiles = readdirSync(new URL("workflows/", github));

/** The workflows by name. */
export const workflows: Record<string, Untyped> = Object.fromEntries(
  workflowFiles.map((file) => {
    const workflow = read(`workflows/${file}`);
    const jobs = Object.entries<Job>(workflow.jobs).map(([name, job]) => [
      name,
      { ...job, written: job.steps, steps: stepsOf(job.steps) },
    ]);
    return [file.replace(".yml", ""), { ...workflow, jobs: Object.fromEntries(jobs) }];
  }),
);

/**
 * Runs the script of a step as GitHub does, in an empty folder.
 *
 * @param programs what stands in for programs, as shell scripts by name. They can append to the file `calls`.
 * @param files by path, in the folder
 * @returns whether it succeeded, what it printed, and the files `calls` and `output`, its `GITHUB_OUTPUT`
 */
export function runStep(
  step: Untyped | undefined,
  programs: Record<string, string>,
  environment: Record<string, string> = {},
  files: Record<string, string> = {},
) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "animal-store-step-"));
  const path = (name: string) => join(folder.path, name);
  const write = (name: string, text: string) => {
    mkdirSync(join(path(name), ".."), { recursive: true });
    writeFileSync(path(name), text);
  };
  for (const [name, text] of Object.entries({ calls: "", output: "", ...files })) write(name, text);
  for (const [name, script] of Object.entries(programs)) {
    write(`bin/${name}`, `#!/bin/bash\n${script}\n`);
    chmodSync(path(`bin/${name}`), 0o755);
  }
  const env = {
    PATH: `${path("bin")}:${process.env.PATH}`,
    CALLS: path("calls"),
    GITHUB_OUTPUT: path("output"),
    RUNNER_TEMP: folder.path,
    ...step?.env,
    ...environment,
  };
  // GitHub runs `shell: bash` with these options.
  const options = ["--noprofile", "--norc", "-eo", "pipefail", "-c", step?.run ?? "exit 1"];
  const { status, stdout } = spawnSync("bash", options, { env, cwd: folder.path, encoding: "utf8" });
  const [calls = "", output = ""] = ["calls", "output"].map((name) => readFileSync(path(name), "utf8"));
  return { succeeds: status === 0, stdout, calls, output };
}
