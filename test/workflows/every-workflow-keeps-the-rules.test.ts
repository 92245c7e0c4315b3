import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { parse } from "yaml";
import { DEPLOYED_BRANCH } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import type { Json } from "../support/json.ts";

// The rules of this project. The pull-request workflow runs actionlint and zizmor, which check the rest.

const github = new URL("../../.github/", import.meta.url);
const read = (file: string): Json => parse(readFileSync(new URL(file, github), "utf8"));
const { on, concurrency, jobs } = read("workflows/deploy.yml");
const { inputs, outputs } = read("actions/deploy/action.yml");
const script = readFileSync(new URL("../tools/deploy.sh", github), "utf8");
const stages = deployedStages.map(({ name }) => name);

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
  expect(on.push.branches).toEqual([DEPLOYED_BRANCH]);
  expect(Object.keys(jobs).sort()).toEqual(["check", "contract", ...stages].sort());
  expect(jobs.check.if).toBe(`github.ref == 'refs/heads/${DEPLOYED_BRANCH}'`);
  expect(concurrency).toEqual({ group: `deploy-\${{ github.ref_name }}`, "cancel-in-progress": false });
  expect(jobs.contract).toMatchObject({ needs: stages[0], permissions: { contents: "read" } });
  expect(Object.keys(jobs.contract.steps.at(-1).env).sort()).toEqual(["CONTRACT_KEY", "CONTRACT_URL"]);
  expect(stages.map((name) => jobs[name].needs)).toEqual(["check", "contract", ...stages.slice(1, -1)]);
  for (const name of stages) {
    const { steps } = jobs[name];
    const step = steps.find(({ uses = "" }: Json) => uses.endsWith("/deploy"));
    expect(Object.keys(step.with).sort()).toEqual(Object.keys(inputs).sort());
    expect(step.with.stage).toBe(name);
    for (const output of Object.keys(outputs)) expect(script).toContain(`echo "${output}=`);
  }
});

it("a push deploys no stage that keeps data: somebody starts that", () => {
  for (const { name, retainData } of deployedStages)
    expect(String(jobs[name].if).includes("github.event_name == 'workflow_dispatch'")).toBe(retainData);
});
