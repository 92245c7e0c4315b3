import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import { stackName } from "../../infra/names.ts";
import { deployedStages, type Stage } from "../../infra/stages.ts";
import { codeBlocks } from "../support/code-blocks.ts";
import { type Job, jobOf, runStep, type Untyped, workflowFiles, workflows } from "../support/workflows.ts";

// The rules of this project. The pull-request workflow runs actionlint and zizmor, which check the rest.

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));

const { deploy = {}, "pull-request": pullRequest = {} } = workflows;
const jobs = Object.values(workflows).flatMap((workflow) => Object.entries<Job>(workflow.jobs));
const namesOf = (has: (job: Job) => unknown) => jobs.filter(([, job]) => has(job)).map(([name]) => name);
const scriptOf = ({ steps }: Untyped): string => steps.map(({ run = "" }) => run).join("\n");
const stepOf = ({ steps }: Untyped, part: string): Untyped | undefined =>
  steps.find(({ run }: Untyped) => run?.includes(part));

const stageNames = deployedStages.map(({ name }) => name);
/** Stands in for a program. It records how it is called. */
const recorded = (name: string, then = "") => `printf '%s\\n' "${name} $*" >> "$CALLS"; ${then}`;

describe("credentials", () => {
  it("of AWS go to the deployments of the stages only, never to a pull request", () => {
    expect(namesOf(({ permissions }) => permissions["id-token"])).toEqual(stageNames);
    for (const name of stageNames) expect(jobOf(name).environment).toBe(name);
    for (const { on } of Object.values(workflows)) expect(on).not.toHaveProperty("pull_request_target");
  });

  it("of GitHub let no job write", () => {
    const scopes = jobs.flatMap(([, { permissions }]) =>
      Object.keys(permissions).filter((scope) => permissions[scope] === "write"),
    );
    expect(new Set(scopes)).toEqual(new Set(["id-token"]));
  });

  it("of any kind are not within reach of a Node that is a package", () => {
    const installing = jobs.filter(([, job]) => scriptOf(job).includes("npm ci"));
    // test/local/node.test.ts runs this command.
    const others = installing.filter(([, job]) => !stepOf(job, "npm ci && rm -rf node_modules/node-*/bin"));
    expect(others).toMatchObject([["install", { permissions: { contents: "read" } }]]);
    // The deployments restore the cache of npm.
    const within = /write|secrets\.|github\.token|"environment"|"persist-credentials":true|"cache"/;
    expect(JSON.stringify(others)).not.toMatch(within);
  });

  it("that GitHub stores are only for the deployments, and none is in a command line", () => {
    expect(namesOf((job) => JSON.stringify(job).includes("secrets."))).toEqual(stageNames);
    for (const [, job] of jobs)
      expect(scriptOf(job)).not.toMatch(/\$\{\{|set -\w*x|--insecure|curl( \S+)* -\w*k|http:/);
  });
});

describe("the deployment", () => {
  const { check } = deploy.jobs;

  it("is of one branch only, after the tests, and only in a region that is set", () => {
    const [branch, ...others] = deploy.on.push.branches;
    expect({ if: check.if, others }).toEqual({ if: `github.ref == 'refs/heads/${branch}'`, others: [] });
    expect(scriptOf(check)).toMatch(/^npm test$/m);
    expect(jobOf(stageNames[0] ?? "")).toMatchObject({ needs: "check", if: "vars.AWS_REGION != ''" });
  });

  it("of a stage comes after the stages before it", () => {
    const needed = (name: string): string[] => {
      const { needs } = deploy.jobs[name];
      return needs ? [needs, ...needed(needs)] : [];
    };
    for (const [index, name] of stageNames.entries())
      expect({ name, needs: needed(name) }).toEqual({
        name,
        needs: expect.arrayContaining(["check", ...stageNames.slice(0, index)]),
      });
  });

  const safeguards = ({ retainData, canaryDeployment }: Stage) => `${retainData} ${canaryDeployment}`;
  const alike = deployedStages.flatMap((stage) => {
    const first = deployedStages.find((one) => safeguards(one) === safeguards(stage)) ?? stage;
    return { first: first.name, name: stage.name };
  });
  it.each(alike)("of $name has the job of $first, which has the same safeguards", ({ first, name }) => {
    const without = (stage: string) => {
      const { needs, if: condition, ...job } = jobOf(stage); // which depend on its place
      return JSON.parse(JSON.stringify(job).replaceAll(new RegExp(`\\b${stage}\\b`, "g"), "<stage>"));
    };
    expect(without(name)).toEqual(without(first));
  });

  const review = (state: string, ...names: string[]) => ({
    state,
    environments: names.map((name) => ({ name })),
  });
  const kept = deployedStages.filter(({ retainData }) => retainData).map(({ name }) => name);
  const cases: [goesOn: boolean, reviews: (name: string) => object[] | string, environment?: object][] = [
    [true, (name) => [review("rejected", "staging"), review("approved", "other", name)]],
    [false, () => []],
    [false, (name) => [review("rejected", name)]],
    [false, (name) => [review("approved", "staging"), review("pending", name)]],
    [false, (name) => [review("approved", name)], { GITHUB_RUN_ATTEMPT: "2" }],
    [false, () => 'echo \'{"message":"Not Found"}\'; exit 1'],
    [false, () => "exit 0"],
    [true, () => "exit 1", { GITHUB_EVENT_NAME: "workflow_dispatch", GITHUB_RUN_ATTEMPT: "2" }],
  ];
  it.each(
    kept.flatMap((name) =>
      cases.map(([goesOn, reviews, other]) => ({ name, goesOn, reviews: reviews(name), other })),
    ),
  )("of $name goes on: $goesOn, with the reviews $reviews and $other", ({ name, goesOn, reviews, other }) => {
    const [first] = jobOf(name).steps;
    const gh = typeof reviews === "string" ? reviews : `echo '${JSON.stringify(reviews)}'`;
    const run = { GITHUB_REPOSITORY: "acme/animal-store", GITHUB_RUN_ID: "7" };
    const environment = { ...run, GITHUB_EVENT_NAME: "push", GITHUB_RUN_ATTEMPT: "1", ...other };
    const { succeeds, calls } = runStep(first, { gh: recorded("gh", gh) }, environment);
    const call = "gh api repos/acme/animal-store/actions/runs/7/approvals\n";
    expect({ succeeds, calls }).toEqual({ succeeds: goesOn, calls: other ? "" : call });
    expect(jobOf(name).permissions.actions).toBe("read");
  });

  describe.each(deployedStages)("of $name", ({ name, canaryDeployment }) => {
    const job = jobOf(name);
    const written = job.written.find(({ uses }: Untyped) => uses?.endsWith("/deploy"))?.with;

    it("is in the region of its environment, with every input of the action and no other", () => {
      const { inputs } = parse(read(".github/actions/deploy/action.yml"));
      expect(Object.keys(written).sort()).toEqual(Object.keys(inputs).sort());
      const [region, key] = [/^\$\{\{ vars\.AWS_REGION \}\}$/, /^\$\{\{ secrets\.API_KEY\w* \}\}$/].map(
        expect.stringMatching,
      );
      expect(written).toMatchObject({ stage: name, region, "api-key": key });
    });

    it("is not cut off, and has credentials before it deploys", () => {
      expect(job.concurrency).toEqual({ group: expect.stringContaining(name), "cancel-in-progress": false });
      const order = job.steps.map(({ uses, id }) => id ?? uses?.split("@")[0]);
      const expected = ["actions/checkout", "aws-actions/configure-aws-credentials", "deploy"];
      expect(order.filter((step) => expected.includes(step))).toEqual(expected);
    });

    it("changes no other stack, while requests go to the API", () => {
      const npm = recorded("npm", "true");
      const deployment = stepOf(job, "cdk deploy");
      const { calls, output } = runStep(deployment, { npm, aws: recorded("aws", "echo https://x/v1") });
      expect(calls).toMatch(new RegExp(`--stack-name ${stackName(name)} .*OutputKey=='BaseUrl'`));
      const command = `npx cdk deploy ${stackName(name)} --exclusively `;
      expect(calls).toContain(`\nnpm run traffic -- --url https://x/v1 -- ${command}`);
      expect(output).toBe("url=https://x/v1\n");
      if (canaryDeployment) expect(scriptOf(job)).not.toContain("test:contract"); // it adds pets
    });

    it("fails without the stack, and if the requests or the deployment fail", () => {
      const deployment = stepOf(job, "cdk deploy");
      expect(runStep(deployment, { npm: recorded("npm"), aws: "exit 1" })).toMatchObject({ calls: "" });
      expect(runStep(deployment, { npm: "exit 1", aws: "true" })).toMatchObject({ succeeds: false });
    });
  });
});

it.each([
  { succeeds: true, git: "echo {}", go: "true" },
  { succeeds: false, git: "echo {}", go: "exit 1" },
  { succeeds: false, git: "exit 1", go: "true" },
])("a pull request is compatible with the base branch: $succeeds, with $git and $go", (expected) => {
  const compatibility = stepOf(pullRequest.jobs.compatibility, "oasdiff");
  const git = recorded("git", expected.git);
  expect(runStep(compatibility, { git, go: expected.go })).toMatchObject({
    succeeds: expected.succeeds,
    calls: "git show HEAD^1:openapi.json\n",
  });
});

it("the second command of README.md runs on the oldest Node and the newest", () => {
  const { on, jobs } = workflows.install ?? {};
  expect(on).toMatchObject({ pull_request: {}, schedule: [{ cron: expect.any(String) }] });
  const [oldest] = JSON.parse(read("package.json")).engines.node.match(/\d+/);
  expect(jobs.install.strategy.matrix.node).toMatch(new RegExp(`'schedule' && '."latest".' .* '.${oldest},`));
  expect(stepOf(jobs.install, "npm ci")?.run).toBe(codeBlocks(read("README.md"), "sh")[1]?.trim());
});

const actions = globSync("actions/*/action.yml", { cwd: new URL(".github/", root) });
const texts = [...workflowFiles.map((file) => `workflows/${file}`), ...actions];
it.each(texts)("%s ignores no failure, and runs npm scripts that exist", (file) => {
  const text = read(`.github/${file}`);
  const { defaults, runs } = parse(text);
  // so that a failure within a pipe counts
  if (runs) for (const { run, shell } of runs.steps) expect(shell).toBe(run && "bash");
  else expect(defaults).toEqual({ run: { shell: "bash" } });
  expect(text).not.toMatch(
    /continue-on-error|set \+e|\|\| *(true|:|echo|exit 0)|; *true|shell: (?!bash)|--fail-on (?!WARN)/,
  );
  for (const [, script = ""] of text.matchAll(/\bnpm run (?:-s )?([\w:]+)/g))
    expect(scripts).toHaveProperty([script]);
});
