import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import { stackName, stages } from "../../infra/stages.ts";

// The rules of this project. The pull-request workflow runs zizmor, which checks the rest.

interface Job {
  // biome-ignore lint/suspicious/noExplicitAny: the settings of a job are untyped YAML
  [setting: string]: any;
  steps: { if?: string; uses?: string; with?: object; run?: string }[];
}

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));

const files = readdirSync(new URL(".github/workflows/", root));
const workflows = Object.fromEntries(files.map((file) => [file, parse(read(`.github/workflows/${file}`))]));
const jobsOf = (file: string) => Object.entries<Job>(workflows[file].jobs);
const jobs = new Map(
  files.flatMap((file) => jobsOf(file).map(([name, job]) => [`${file} ${name}`, job] as const)),
);
const commands = (job?: Job) => job?.steps.flatMap(({ run }) => run?.trim() ?? []) ?? [];

const oidc = { contents: "read", "id-token": "write" };
const revokes = "always() && steps.key.outputs.id != ''";

/** An expression as GitHub writes it. */
const expression = (text: string) => `\${{ ${text} }}`;

it("has exactly these jobs with an environment, or with more rights than to read the code", () => {
  const rights = [...jobs].map(([name, { environment, permissions }]) => [name, environment, permissions]);
  const ordinary = JSON.stringify([undefined, { contents: "read" }]);
  const pages = { name: "github-pages", url: expect.anything() };
  expect(rights.filter(([, ...rest]) => JSON.stringify(rest) !== ordinary)).toEqual([
    ...stages.map(({ name }) => [`deploy.yml ${name}`, name, oidc]),
    ["pull-request.yml diff", undefined, { ...oidc, "pull-requests": "write" }],
    ["release.yml release", undefined, { contents: "write" }],
    ["release.yml pages", pages, { pages: "write", "id-token": "write" }],
  ]);
});

it("gives AWS credentials to exactly these jobs, and none to forks and Dependabot", () => {
  const role = (variable: string) => ({
    "role-to-assume": expression(`vars.${variable}`),
    "aws-region": expression("vars.AWS_REGION"),
  });
  const credentials = [...jobs].flatMap(([name, { steps }]) =>
    steps.flatMap((step) => (step.uses?.startsWith("aws-actions/") ? [[name, step.with]] : [])),
  );
  expect(credentials).toEqual([
    ...stages.map(({ name }) => [`deploy.yml ${name}`, role("AWS_DEPLOY_ROLE_ARN")]),
    ["pull-request.yml diff", role("AWS_DIFF_ROLE_ARN")],
  ]);
  expect(jobs.get("pull-request.yml diff")?.if.split(" && ")).toEqual([
    "vars.AWS_DIFF_ROLE_ARN != ''",
    "github.event.pull_request.head.repo.full_name == github.repository",
    "github.event.pull_request.user.login != 'dependabot[bot]'",
  ]);
});

it("deploys main only, and after the tests", () => {
  expect(workflows["deploy.yml"].on).toEqual({ push: { branches: ["main"] }, workflow_dispatch: null });
  const check = jobs.get("deploy.yml check");
  expect([check?.if, commands(check)]).toEqual(["github.ref == 'refs/heads/main'", ["npm ci", "npm test"]]);
});

const inOrder = stages.map(({ name }, index) => ({ name, needs: stages[index - 1]?.name ?? "check" }));

describe.each(inOrder)("$name", ({ name, needs }) => {
  const job = jobs.get(`deploy.yml ${name}`);
  const lines = commands(job).join("\n").split("\n");

  it(`is deployed after ${needs}, one deployment at a time`, () => {
    const concurrency = { group: `deploy-${name}`, "cancel-in-progress": false };
    expect(job).toMatchObject({ needs, concurrency });
    expect(lines).toContain(
      `npx cdk deploy ${stackName(name)} --exclusively --require-approval never --outputs-file outputs.json`,
    );
  });

  it("masks the key that it issues before anything else uses it, and always revokes it", () => {
    expect(lines.join("\n")).toMatch(
      new RegExp(`keys -- issue --stage ${name} [^)]+ --expires (1h|15m) --json\\)\nkey=`),
    );
    const used = lines.findIndex((line) => line.includes("$issued"));
    expect(lines.slice(used, used + 2)).toEqual([
      'key=$(jq -r .key <<< "$issued")',
      'echo "::add-mask::$key"',
    ]);
    expect(job?.steps.at(-1)).toMatchObject({
      if: revokes,
      env: { KEY_ID: expression("steps.key.outputs.id") },
      run: expect.stringContaining(`npm run -s keys -- revoke "$KEY_ID" --stage ${name}`),
    });
  });
});

it("tests the contract in staging, and production with a key and without", () => {
  const staging = commands(jobs.get("deploy.yml staging"));
  expect(staging.at(-2)).toMatch(/\nnpm run test:contract -- --url "\$url"$/);
  const last = commands(jobs.get("deploy.yml production")).at(-2)?.split("\n") ?? [];
  expect(last).toContain('with=$(status -H "Authorization: Bearer $KEY")');
  expect(last).toContain("without=$(status)");
  expect(last.at(-1)).toBe("[[ $with == 200 && $without == 401 ]]");
});

it.each(files)(
  "%s ignores no failure, skips only the end of a missing key, and runs scripts that exist",
  (file) => {
    // With this shell, a failure within a pipe counts.
    expect(workflows[file].defaults).toEqual({ run: { shell: "bash" } });
    expect(read(`.github/workflows/${file}`)).not.toMatch(
      /continue-on-error|set \+e|\|\| *(true|:|echo|exit 0)|; *true/,
    );
    for (const [, job] of jobsOf(file)) {
      for (const step of job.steps) expect(step.if ?? revokes).toBe(revokes);
      const started = commands(job)
        .join("\n")
        .matchAll(/\bnpm run (?:-s )?([\w:]+)/g);
      for (const [, name = ""] of started) expect(scripts).toHaveProperty([name]);
    }
  },
);
