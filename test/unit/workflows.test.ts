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
const workflows = Object.fromEntries(files.map((file) => [file, parse(read(`.github/workflows/${file}`))]));
const jobs = files.flatMap((file) =>
  Object.entries<Job>(workflows[file].jobs).map(([name, job]) => ({ name, job })),
);
const jobOf = (file: string, name: string): Job => workflows[file].jobs[name];
const scriptOf = ({ steps }: Job) => steps.map(({ run = "" }) => run).join("\n");
const namesOf = (chosen: typeof jobs) => chosen.map(({ name }) => name);

const stageNames = deployedStages.map(({ name }) => name);
const diff = jobOf("pull-request.yml", "diff");

describe("credentials", () => {
  it("of AWS go to the deployments of the stages, and to the job that compares pull requests", () => {
    const withToken = jobs.filter(({ job }) => job.permissions["id-token"]);
    expect(namesOf(withToken)).toEqual([...stageNames, "diff", "pages"]); // pages has no role in AWS
    for (const name of stageNames) expect(jobOf("deploy.yml", name).environment).toBe(name);
  });

  it("are not in a job that runs the code of a pull request, of a fork or of Dependabot", () => {
    expect(workflows["pull-request.yml"].on).not.toHaveProperty("pull_request_target");
    expect(diff.if).toContain("github.event.pull_request.head.repo.full_name == github.repository &&");
    expect(diff.if).toContain("github.event.pull_request.user.login != 'dependabot[bot]'");
    expect(diff.steps[0]?.with?.ref).toContain("github.event.pull_request.base.sha");
    expect(scriptOf(diff)).toMatch(/^npm ci --ignore-scripts$/m);
    // The assembly is data. A path in it could name a file with credentials.
    const names = diff.steps.map(({ name, uses }) => name ?? uses?.split("@")[0]);
    const guard = names.indexOf("The assembly names only its own files");
    expect(guard).toBeGreaterThan(names.indexOf("actions/download-artifact"));
    expect(guard).toBeLessThan(names.indexOf("aws-actions/configure-aws-credentials"));
    expect(scriptOf(diff)).toMatch(/cdk diff --app assembly --method template --no-lookups /);
  });

  it("of GitHub let a job write only if it comments or publishes", () => {
    const writes = jobs.flatMap(({ name, job }) => {
      const { "id-token": _, ...permissions } = job.permissions;
      return Object.entries(permissions).flatMap(([scope, right]) =>
        right === "write" ? `${name}: ${scope}` : [],
      );
    });
    expect(writes).toEqual(["diff: pull-requests", "release: contents", "pages: pages"]);
  });

  it("that GitHub stores are only for the deployments, and none is in a command line", () => {
    expect(namesOf(jobs.filter(({ job }) => JSON.stringify(job).includes("secrets.")))).toEqual(stageNames);
    for (const { job } of jobs)
      expect(scriptOf(job)).not.toMatch(/\$\{\{|set -\w*x|--insecure|curl( \S+)* -\w*k|http:/);
  });
});

describe("the deployment", () => {
  it("is of main only, after the tests, and only in a region that is set", () => {
    const check = jobOf("deploy.yml", "check");
    expect(check.if).toBe("github.ref == 'refs/heads/main'");
    expect(scriptOf(check)).toMatch(/^npm test$/m);
    expect(jobOf("deploy.yml", "staging")).toMatchObject({ needs: "check", if: "vars.AWS_REGION != ''" });
  });

  const approval = jobOf("deploy.yml", "approval");

  it("of a stage comes after the stages before it, and of one that keeps data after an approval", () => {
    const needed = (name: string): string[] => {
      const { needs } = jobOf("deploy.yml", name);
      return needs ? [needs, ...needed(needs)] : [];
    };
    for (const [index, { name, retainData }] of deployedStages.entries()) {
      expect(needed(name)).toEqual(expect.arrayContaining(["check", ...stageNames.slice(0, index)]));
      expect(needed(name).includes("approval")).toBe(retainData);
      if (retainData) expect(scriptOf(approval)).toContain(`/environments/${name}"`);
    }
  });

  it("to production goes on only if a reviewer must approve it, or someone started it", () => {
    const goesOn = (event: string, gh: string) => {
      const script = `gh() { ${gh}; }\n${scriptOf(approval)}`;
      const env = {
        PATH: process.env.PATH,
        GITHUB_EVENT_NAME: event,
        GITHUB_REPOSITORY: "acme/animal-store",
      };
      // GitHub runs `shell: bash` with these options.
      return (
        spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], { env }).status === 0
      );
    };
    expect(goesOn("push", "printf 'wait_timer\\nrequired_reviewers\\n'")).toBe(true);
    expect(goesOn("workflow_dispatch", "false")).toBe(true);
    for (const rules of ["echo wait_timer", "true", "echo required_reviewers; false"])
      expect(goesOn("push", rules)).toBe(false);
  });

  it.each(deployedStages)(
    "of $name is not cut off, changes no other stack, and sends requests to a canary",
    ({ name, canaryDeployment }) => {
      const job = jobOf("deploy.yml", name);
      expect(job.concurrency).toEqual({ group: expect.stringContaining(name), "cancel-in-progress": false });
      expect(job["timeout-minutes"]).toBeGreaterThanOrEqual(30);
      const deployed = [...scriptOf(job).matchAll(/cdk deploy (\S+) (--exclusively)/g)].map(
        ([, ...args]) => args,
      );
      expect(deployed).toEqual([[stackName(name), "--exclusively"]]);
      if (canaryDeployment) expect(scriptOf(job)).toMatch(/npm run traffic .* -- \\?\s+npx cdk deploy/);
    },
  );

  it.each(deployedStages)(
    "of $name masks its key before anything else uses it, and always revokes it",
    ({ name }) => {
      const job = jobOf("deploy.yml", name);
      const [issue = ""] = job.steps.flatMap(({ run = "" }) => (run.includes("keys -- issue") ? run : []));
      expect(issue).toMatch(
        /^issued=\$\(npm run -s keys -- issue .* --expires-in \d+h .*\)\nkey=.*\necho "::add-mask::\$key"\n/,
      );
      const last = job.steps.at(-1);
      expect(last?.if).toBe("always() && steps.key.outputs.id != ''");
      expect(last?.run).toMatch(new RegExp(`^npm run -s keys -- revoke "\\$KEY_ID" --stage ${name}\\b`));
    },
  );
});

it("publishes a release only if the repository is filled in", () => {
  expect(scriptOf(jobOf("release.yml", "build"))).toContain('"publish=" + (githubRepository !== undefined)');
  const published = { needs: "build", if: "needs.build.outputs.publish == 'true'" };
  for (const name of ["release", "pages"]) expect(jobOf("release.yml", name)).toMatchObject(published);
});

it.each(files)("%s ignores no failure, and runs npm scripts that exist", (file) => {
  expect(workflows[file].defaults).toEqual({ run: { shell: "bash" } }); // so that a failure within a pipe counts
  expect(read(`.github/workflows/${file}`)).not.toMatch(
    /continue-on-error|set \+e|\|\| *(true|:|echo|exit 0)|; *true|shell: (?!bash)/,
  );
  const started = [...read(`.github/workflows/${file}`).matchAll(/\bnpm run (?:-s )?([\w:]+)/g)];
  for (const [, script = ""] of started) expect(scripts).toHaveProperty([script]);
});
