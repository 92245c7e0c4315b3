import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** The workflows by name. `written` has the steps of a job as they are in its file. */
export const workflows: Record<string, Untyped> = {};
for (const file of workflowFiles) {
  const workflow = read(`workflows/${file}`);
  for (const job of Object.values<Job>(workflow.jobs))
    Object.assign(job, { written: job.steps, steps: stepsOf(job.steps) });
  workflows[file.replace(".yml", "")] = workflow;
}

/** The job of a stage. @throws Error that names a stage without one */
export function jobOf(stage: string): Job {
  const job = workflows.deploy?.jobs[stage];
  if (!job)
    throw new Error(`infra/stages.ts has the stage ${stage}, and deploy.yml has no job of this name.`);
  return job;
}

/**
 * Runs the script of a step as GitHub does, in an empty folder.
 *
 * @param programs what stands in for programs, as shell scripts by name. They can append to the file `calls`.
 * @param files by path, in the folder
 * @returns whether it succeeded, and the files `calls` and `output`, its `GITHUB_OUTPUT`
 */
export function runStep(
  step: Untyped | undefined,
  programs: Record<string, string>,
  environment: Record<string, string> = {},
  files: Record<string, string> = {},
) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "animal-store-step-"));
  const path = (name: string) => join(folder.path, name);
  const write = (name: string, text: string, mode = 0o644) => {
    mkdirSync(join(path(name), ".."), { recursive: true });
    writeFileSync(path(name), text, { mode });
  };
  for (const [name, text] of Object.entries({ calls: "", output: "", ...files })) write(name, text);
  for (const [name, script] of Object.entries(programs))
    write(`bin/${name}`, `#!/bin/bash\n${script}\n`, 0o755);
  const own = { PATH: `${path("bin")}:${process.env.PATH}`, CALLS: path("calls"), RUNNER_TEMP: folder.path };
  const env = { ...own, GITHUB_OUTPUT: path("output"), ...step?.env, ...environment };
  // GitHub runs `shell: bash` with these options.
  const options = ["--noprofile", "--norc", "-eo", "pipefail", "-c", step?.run ?? "exit 1"];
  const { status } = spawnSync("bash", options, { env, cwd: folder.path, encoding: "utf8" });
  const [calls, output] = ["calls", "output"].map((name) => readFileSync(path(name), "utf8"));
  return { succeeds: status === 0, calls, output };
}
