import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import { deployedStages, stackName } from "../../infra/stages.ts";

// The rules of this project. The pull-request workflow runs actionlint and zizmor, which check the rest.

// biome-ignore lint/suspicious/noExplicitAny: untyped YAML
type Untyped = Record<string, any>;
type Job = Untyped & { steps: Untyped[] };

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));

const files = readdirSync(new URL(".github/workflows/", root));
const workflows: Untyped = Object.fromEntries(
  files.map((file) => [file.replace(".yml", ""), parse(read(`.github/workflows/${file}`))]),
);
const { deploy, release, "pull-request": pullRequest } = workflows;
const { diff } = pullRequest.jobs;
const jobs = Object.values<Untyped>(workflows).flatMap((workflow) => Object.entries<Job>(workflow.jobs));
const namesOf = (has: (job: Job) => unknown) => jobs.filter(([, job]) => has(job)).map(([name]) => name);
const scriptOf = ({ steps }: Untyped): string => steps.map(({ run = "" }) => run).join("\n");

const stageNames = deployedStages.map(({ name }) => name);

describe("credentials", () => {
  it("of AWS go to the deployments of the stages, and to the job that compares pull requests", () => {
    // pages has no role in AWS
    expect(namesOf(({ permissions }) => permissions["id-token"])).toEqual([...stageNames, "diff", "pages"]);
    for (const name of stageNames) expect(deploy.jobs[name].environment).toBe(name);
  });

  it("are not in a job that runs the code of a pull request, of a fork or of Dependabot", () => {
    expect(pullRequest.on).not.toHaveProperty("pull_request_target");
    expect(diff.if).toContain("github.event.pull_request.head.repo.full_name == github.repository &&");
    expect(diff.if).toContain("github.event.pull_request.user.login != 'dependabot[bot]'");
    expect(diff.steps[0].with.ref).toContain("github.event.pull_request.base.sha");
    expect(scriptOf(diff)).toMatch(/^npm ci --ignore-scripts$/m);
    // The assembly is data. A path in it could name a file with credentials.
    const order = [
      "actions/download-artifact",
      "The assembly names only its own files",
      "aws-actions/configure-aws-credentials",
    ];
    const steps: string[] = diff.steps.map(({ name, uses }: Untyped) => name ?? uses.split("@")[0]);
    expect(steps.filter((step) => order.includes(step))).toEqual(order);
    expect(scriptOf(diff)).toMatch(/cdk diff --app assembly --method template --no-lookups /);
  });

  it("of GitHub let a job write only if it comments or publishes", () => {
    const writes = jobs.flatMap(([name, { permissions }]) =>
      Object.keys(permissions).flatMap((scope) =>
        permissions[scope] === "write" && scope !== "id-token" ? `${name}: ${scope}` : [],
      ),
    );
    expect(writes).toEqual(["diff: pull-requests", "release: contents", "pages: pages"]);
  });

  it("that GitHub stores are only for the deployments, and none is in a command line", () => {
    expect(namesOf((job) => JSON.stringify(job).includes("secrets."))).toEqual(stageNames);
    for (const [, job] of jobs)
      expect(scriptOf(job)).not.toMatch(/\$\{\{|set -\w*x|--insecure|curl( \S+)* -\w*k|http:/);
  });
});

describe("the deployment", () => {
  const { check, approval } = deploy.jobs;

  it("is of main only, after the tests, and only in a region that is set", () => {
    expect(check.if).toBe("github.ref == 'refs/heads/main'");
    expect(scriptOf(check)).toMatch(/^npm test$/m);
    expect(deploy.jobs[stageNames[0] ?? ""]).toMatchObject({ needs: "check", if: "vars.AWS_REGION != ''" });
  });

  it("of a stage comes after the stages before it, and of one that keeps data after an approval", () => {
    const needed = (name: string): string[] => {
      const { needs } = deploy.jobs[name];
      return needs ? [needs, ...needed(needs)] : [];
    };
    for (const [index, { name, retainData }] of deployedStages.entries()) {
      expect(needed(name)).toEqual(expect.arrayContaining(["check", ...stageNames.slice(0, index)]));
      expect(needed(name).includes("approval")).toBe(retainData);
      if (retainData) expect(scriptOf(approval)).toContain(`/environments/${name}"`);
    }
  });

  it.each([
    ["push", "printf 'wait_timer\\nrequired_reviewers\\n'", true],
    ["workflow_dispatch", "false", true],
    ["push", "echo wait_timer", false],
    ["push", "true", false],
    ["push", "echo required_reviewers; false", false],
  ])("of production, by %s and with the rules of `%s`, goes on: %s", (GITHUB_EVENT_NAME, gh, goesOn) => {
    const env = { PATH: process.env.PATH, GITHUB_EVENT_NAME, GITHUB_REPOSITORY: "acme/animal-store" };
    const script = `gh() { ${gh}; }\n${scriptOf(approval)}`;
    // GitHub runs `shell: bash` with these options.
    const options = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
    expect(spawnSync("bash", options, { env }).status === 0).toBe(goesOn);
  });

  describe.each(deployedStages)("of $name", ({ name, canaryDeployment }) => {
    const job: Job = deploy.jobs[name];
    const script = scriptOf(job);

    it("is not cut off, changes no other stack, and sends requests to a canary", () => {
      expect(job.concurrency).toEqual({ group: expect.stringContaining(name), "cancel-in-progress": false });
      expect(job["timeout-minutes"]).toBeGreaterThanOrEqual(30);
      expect(script.match(/cdk deploy \S+ \S+/g)).toEqual([`cdk deploy ${stackName(name)} --exclusively`]);
      if (canaryDeployment) expect(script).toMatch(/npm run traffic .* -- \\?\s+npx cdk deploy/);
    });

    it("masks its key before anything else uses it, and always revokes it", () => {
      const issue = job.steps.find(({ run }) => run?.includes("keys -- issue"));
      expect(issue?.run).toMatch(
        /^issued=\$\(npm run -s keys -- issue .* --expires-in \d+h .*\)\nkey=.*\necho "::add-mask::\$key"\n/,
      );
      const last = job.steps.at(-1);
      expect(last?.if).toBe("always() && steps.key.outputs.id != ''");
      expect(last?.run).toMatch(new RegExp(`^npm run -s keys -- revoke "\\$KEY_ID" --stage ${name}\\b`));
    });
  });
});

it("publishes a release only if the repository is filled in", () => {
  expect(scriptOf(release.jobs.build)).toContain('"publish=" + (githubRepository !== undefined)');
  const published = { needs: "build", if: "needs.build.outputs.publish == 'true'" };
  expect(release.jobs).toMatchObject({ release: published, pages: published });
});

it.each(files)("%s ignores no failure, and runs npm scripts that exist", (file) => {
  const text = read(`.github/workflows/${file}`);
  expect(parse(text).defaults).toEqual({ run: { shell: "bash" } }); // so that a failure within a pipe counts
  expect(text).not.toMatch(
    /continue-on-error|set \+e|\|\| *(true|:|echo|exit 0)|; *true|shell: (?!bash)|--fail-on (?!WARN)/,
  );
  for (const [, script = ""] of text.matchAll(/\bnpm run (?:-s )?([\w:]+)/g))
    expect(scripts).toHaveProperty([script]);
});
