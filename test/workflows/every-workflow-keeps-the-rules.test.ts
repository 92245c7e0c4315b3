import { spawnSync } from "node:child_process";
import { mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { parse } from "yaml";
import { pascalCase } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { operations } from "../../lib/operations.ts";
import type { Json } from "../support/json.ts";

// The rules of this project. The pull-request workflow runs actionlint and zizmor, which check the rest.

const github = new URL("../../.github/", import.meta.url);
const read = (file: string): Json => parse(readFileSync(new URL(file, github), "utf8"));
const { on, concurrency, jobs } = read("workflows/deploy.yml");
const { inputs, runs } = read("actions/deploy/action.yml");
const stages = deployedStages.map(({ name }) => name);

/** Runs a script as GitHub does, with shell scripts in place of programs. */
function run(script: string, programs: Record<string, string>, environment: Record<string, string>) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "animal-store-step-"));
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder.path, name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  const PATH = `${folder.path}:${process.env.PATH}`;
  const env = { ...environment, PATH, GITHUB_OUTPUT: join(folder.path, "output") };
  const options = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
  return spawnSync("bash", options, { env, encoding: "utf8" });
}

it("only deployments of stages get credentials of AWS, and no pull request gets a key", () => {
  const files = readdirSync(new URL("workflows/", github));
  const workflows = files.map((file) => read(`workflows/${file}`));
  const all = workflows.flatMap((workflow) => Object.entries<Json>(workflow.jobs));
  const having = (text: string) =>
    all.flatMap(([name, job]) => (JSON.stringify(job).includes(text) ? name : []));
  expect(having("id-token").sort()).toEqual(stages.toSorted());
  expect(having("secrets.").sort()).toEqual(["contract", ...stages].sort());
  for (const name of stages) expect(jobs[name].environment).toBe(name);
  for (const workflow of workflows) expect(workflow.on).not.toHaveProperty("pull_request_target");
});

it("a push deploys each stage after the tests and the stages before it", () => {
  expect(jobs.check.if).toBe(`github.ref == 'refs/heads/${on.push.branches}'`);
  expect(concurrency).toEqual({ group: `deploy-\${{ github.ref_name }}`, "cancel-in-progress": false });
  expect(jobs.contract).toMatchObject({ needs: stages[0], permissions: { contents: "read" } });
  expect(stages.map((name) => jobs[name].needs)).toEqual(["check", "contract", ...stages.slice(1, -1)]);
  for (const name of stages) {
    const { steps } = jobs[name];
    const step = steps.find(({ uses = "" }: Json) => uses.endsWith("/deploy"));
    expect(Object.keys(step.with).sort()).toEqual(Object.keys(inputs).sort());
    expect(step.with.stage).toBe(name);
  }
});

it.each([
  { goesOn: true, reviews: ["rejected staging", "approved production"] },
  { goesOn: false, reviews: ["rejected production", "approved staging"] },
  { goesOn: false, reviews: [] },
  { goesOn: false, reviews: ["approved production"], environment: { GITHUB_RUN_ATTEMPT: "2" } },
  { goesOn: true, reviews: [], environment: { GITHUB_EVENT_NAME: "workflow_dispatch" } },
])(
  "production is deployed: $goesOn, after $reviews with $environment",
  ({ goesOn, reviews, environment }) => {
    const texts = reviews.map((review) => review.split(" "));
    const list = texts.map(([state, name]) => ({ state, environments: [{ name }] }));
    const gh = `[[ $2 == repos/a/b/actions/runs/7/approvals ]] && echo '${JSON.stringify(list)}'`;
    const started = { GITHUB_EVENT_NAME: "push", GITHUB_RUN_ATTEMPT: "1", ...environment };
    const env = { GITHUB_REPOSITORY: "a/b", GITHUB_RUN_ID: "7", ...started };
    expect(run(jobs.production.steps[0].run, { gh }, env).status === 0).toBe(goesOn);
  },
);

const right = "case $* in *limit*) echo 200 ;; *json*) echo 400 ;; *) echo 404 ;; esac";
it.each([
  { of: "right statuses", curl: right, status: 0, prints: / 0 of them without/ },
  { of: "no responses", curl: "echo 000; exit 7", status: 0, prints: /(\d+) requests, \1 of them without/ },
  { of: "a wrong status", curl: right.replace("400", "201"), status: 1, prints: /201 and not.*CreatePetF/s },
  { of: "no deployment", curl: right, status: 3, prints: /^$/, ends: "exit 3" },
])("a deployment with $of ends with $status", ({ curl, status, prints, ends = "exit" }) => {
  const npx = `/bin/sleep 0.3; [[ "$*" == "cdk deploy animal-store-x --exclusively "* && ! $API_KEY ]] && ${ends}`;
  const programs = { aws: "echo https://x/v1", npx, curl, sleep: "/bin/sleep 0.1" };
  const { run: script } = runs.steps.find(({ id }: Json) => id === "deploy");
  for (const operation of operations) expect(script).toContain(` send ${pascalCase(operation.id)} `);
  const result = run(script, programs, { STAGE: "x", API_KEY: "secret" });
  expect(result).toMatchObject({ status, stdout: expect.stringMatching(prints) });
});
