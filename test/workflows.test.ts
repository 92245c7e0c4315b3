import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  if?: string;
  with?: Record<string, unknown>;
}
interface Job {
  needs?: string;
  environment?: string;
  permissions?: Record<string, string>;
  concurrency?: { "cancel-in-progress": boolean };
  "timeout-minutes"?: number;
  steps: Step[];
}
interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const root = new URL("../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));

const folder = ".github/workflows/";
const workflows = readdirSync(new URL(folder, root)).map((file) => {
  const text = read(folder + file);
  const workflow: Workflow = parse(text);
  const jobs = Object.entries(workflow.jobs);
  return { file, text, workflow, jobs, steps: jobs.flatMap(([, job]) => job.steps) };
});

const AWS = "aws-actions/configure-aws-credentials@";
const takesCredentials = ({ steps }: Job) => steps.some(({ uses }) => uses?.startsWith(AWS));
const deploys = ({ steps }: Job) => steps.some(({ run }) => run?.includes("cdk deploy"));

describe.each(workflows)("$file", ({ text, workflow, jobs, steps }) => {
  const scriptsRun = steps.flatMap(({ run }) => run ?? []);

  it("runs others' actions only by commit, and leaves no token behind", () => {
    for (const { uses, with: inputs } of steps) {
      if (!uses) continue;
      expect(uses).toMatch(/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/);
      if (uses.startsWith("actions/checkout@")) expect(inputs).toEqual({ "persist-credentials": false });
    }
    // The version beside the commit is for people, and for Dependabot.
    for (const line of text.match(/^.*uses:.*$/gm) ?? []) expect(line).toMatch(/ # v\d+\.\d+\.\d+$/);
  });

  it("allows nothing but what a job names, and gives every job an end", () => {
    expect(workflow.permissions).toEqual({});
    for (const [, job] of jobs) {
      expect(job.permissions).toMatchObject({ contents: "read" });
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
    }
  });

  it("takes AWS credentials by OIDC alone, and where they are needed", () => {
    for (const [, job] of jobs) {
      expect(job.permissions?.["id-token"]).toBe(takesCredentials(job) ? "write" : undefined);
    }
    for (const { uses, with: inputs } of steps) {
      if (!uses?.startsWith(AWS)) continue;
      expect(Object.keys(inputs ?? {}).sort()).toEqual(["aws-region", "role-to-assume"]);
    }
    expect(text).not.toMatch(/\bsecrets\b/);
  });

  it("is never started by a fork with the rights of this repository", () => {
    expect(workflow.on).not.toHaveProperty("pull_request_target");
    expect(workflow.on).not.toHaveProperty("workflow_run");
  });

  it("puts no expression into a script, where it could become code", () => {
    for (const script of scriptsRun) expect(script).not.toContain("${{");
  });

  it("runs only commands that there are", () => {
    const named = (pattern: RegExp) =>
      scriptsRun.flatMap((script) => [...script.matchAll(pattern)].map(([, name]) => name));
    const npm = named(/\bnpm (?:run (?:-s )?)?(?!ci\b|audit\b|run\b)([\w:-]+)/g);
    expect(npm).toContain("test");
    for (const name of npm) expect(Object.keys(scripts)).toContain(name);
    for (const name of named(/\bnpx ([\w-]+)/g)) {
      expect(existsSync(new URL(`node_modules/.bin/${name}`, root))).toBe(true);
    }
  });

  it("ends every key that it issues, whatever happens", () => {
    for (const [, job] of jobs) {
      const issues = job.steps.findIndex(({ run }) => run?.includes("keys -- issue"));
      if (issues === -1) continue;
      expect(job.steps[issues]?.run).toMatch(/--expires \d+[mh]/);
      expect(job.steps[issues]?.run).toContain("::add-mask::");
      const revokes = job.steps.findIndex(({ run }) => run?.includes("keys -- revoke"));
      expect(revokes).toBeGreaterThan(issues);
      expect(job.steps[revokes]?.if).toMatch(/^always\(\)/);
    }
  });

  it("deploys only what was checked, from an environment, and never stops halfway", () => {
    for (const [, job] of jobs) {
      if (!deploys(job)) continue;
      expect(["check", "staging"]).toContain(job.needs);
      expect(["staging", "production"]).toContain(job.environment);
      expect(job.concurrency).toMatchObject({ "cancel-in-progress": false });
    }
  });
});

it("reaches production by staging alone", () => {
  const all = workflows.flatMap(({ jobs }) => jobs);
  const production = all.filter(([, job]) =>
    job.steps.some(({ run }) => run?.includes("animal-store-production")),
  );
  expect(production.map(([, { needs, environment }]) => ({ needs, environment }))).toEqual([
    { needs: "staging", environment: "production" },
  ]);
});
