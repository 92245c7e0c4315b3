import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";

// What zizmor cannot check, because it is a rule of this project. The pull-request workflow runs zizmor.

interface Step {
  id?: string;
  name?: string;
  uses?: string;
  run?: string;
  if?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
  "continue-on-error"?: unknown;
}
interface Job {
  steps: Step[];
  [key: string]: unknown;
}
interface Workflow {
  jobs: Record<string, Job>;
  [key: string]: unknown;
}

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));

const folder = ".github/workflows/";
const files = readdirSync(new URL(folder, root)).sort();
const workflows = Object.fromEntries(files.map((file) => [file, parse(read(folder + file)) as Workflow]));

/** A workflow or job without its steps. */
const settings = ({ jobs, steps, ...rest }: Partial<Workflow & Job>) => rest;

/** A step in one line: the action, or the first line of the command. */
const line = ({ uses, run }: Step) => uses?.replace(/@.*/, "") ?? run?.split("\n")[0] ?? "";

/** An expression as GitHub writes it. */
const expression = (text: string) => `\${{ ${text} }}`;

const checkedOut = ["actions/checkout", "actions/setup-node", "npm ci"];
const credentials = "aws-actions/configure-aws-credentials";
const deployment = (stage: string, timeout: number, needs: string) => ({
  needs,
  environment: stage,
  concurrency: { group: `deploy-${stage}`, "cancel-in-progress": false },
  "runs-on": "ubuntu-latest",
  "timeout-minutes": timeout,
  permissions: { contents: "read", "id-token": "write" },
});
const check = { "runs-on": "ubuntu-latest", "timeout-minutes": 15, permissions: { contents: "read" } };
const bash = { run: { shell: "bash" } };

it("has no other workflow than those that are checked here", () => {
  expect(files).toEqual(["deploy.yml", "pull-request.yml"]);
});

describe("deploy.yml", () => {
  const { jobs = {}, ...workflow } = workflows["deploy.yml"] ?? {};

  it("runs for main only, one job after the other, with exactly these rights", () => {
    expect(workflow).toEqual({
      name: "Deploy",
      on: { push: { branches: ["main"] }, workflow_dispatch: null },
      permissions: {},
      defaults: bash,
    });
    expect(Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, settings(job)]))).toEqual({
      check: { if: "github.ref == 'refs/heads/main'", ...check },
      staging: deployment("staging", 30, "check"),
      production: deployment("production", 60, "staging"),
    });
  });

  it("runs exactly these steps", () => {
    expect(jobs.check?.steps.map(line)).toEqual([...checkedOut, "npm test"]);
    expect(jobs.staging?.steps.map(line)).toEqual([
      ...checkedOut,
      credentials,
      "npx cdk deploy animal-store-staging --exclusively --require-approval never --outputs-file outputs.json",
      'issued=$(npm run -s keys -- issue --stage staging --name "ci-$GITHUB_RUN_ID" --expires 1h --json)',
      `url=$(jq -r '."animal-store-staging".BaseUrl' outputs.json)`,
      'npm run -s keys -- revoke "$KEY_ID" --stage staging',
    ]);
    expect(jobs.production?.steps.map(line)).toEqual([
      ...checkedOut,
      credentials,
      "npx cdk deploy animal-store-production --exclusively --require-approval never --outputs-file outputs.json",
      'issued=$(npm run -s keys -- issue --stage production --yes --name "ci-$GITHUB_RUN_ID" \\',
      `url=$(jq -r '."animal-store-production".BaseUrl' outputs.json)/pets`,
      'npm run -s keys -- revoke "$KEY_ID" --stage production --yes',
    ]);
  });

  it("fails when the contract is broken, or when production admits a request without a key", () => {
    expect(
      jobs.staging?.steps
        .find(({ name }) => name === "Check the contract")
        ?.run?.trim()
        .split("\n"),
    ).toEqual([
      `url=$(jq -r '."animal-store-staging".BaseUrl' outputs.json)`,
      'npm run test:contract -- --url "$url"',
    ]);
    const commands = jobs.production?.steps.at(-2)?.run?.trim().split("\n") ?? [];
    expect(commands).toContain('with=$(status -H "Authorization: Bearer $KEY")');
    expect(commands).toContain("without=$(status)");
    expect(commands.at(-1)).toBe("[[ $with == 200 && $without == 401 ]]");
  });

  it.each(["staging", "production"])(
    "masks the key that it issues for %s, and always revokes it",
    (stage) => {
      const steps = jobs[stage]?.steps ?? [];
      const [issue, , revoke] = steps.slice(-3);
      expect(issue?.id).toBe("key");
      expect(issue?.run).toMatch(/--expires (1h|15m) --json\)\n/);
      expect(issue?.run?.split("\n").slice(-4, -1)).toEqual([
        'key=$(jq -r .key <<< "$issued")',
        'echo "::add-mask::$key"',
        `jq -r '"id=\\(.keyId)", "key=\\(.key)"' <<< "$issued" >> "$GITHUB_OUTPUT"`,
      ]);
      expect(revoke).toMatchObject({
        if: "always() && steps.key.outputs.id != ''",
        env: { KEY_ID: expression("steps.key.outputs.id") },
      });
    },
  );
});

describe("pull-request.yml", () => {
  const { jobs = {}, ...workflow } = workflows["pull-request.yml"] ?? {};

  it("runs for pull requests, with exactly these rights, and without credentials for forks and Dependabot", () => {
    expect(workflow).toEqual({
      name: "Pull request",
      on: { pull_request: { branches: ["main"] } },
      permissions: {},
      concurrency: {
        group: `pull-request-${expression("github.event.pull_request.number")}`,
        "cancel-in-progress": true,
      },
      defaults: bash,
    });
    expect(Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, settings(job)]))).toEqual({
      check,
      diff: {
        if: [
          "vars.AWS_DIFF_ROLE_ARN != '' &&",
          "github.event.pull_request.head.repo.full_name == github.repository &&",
          "github.event.pull_request.user.login != 'dependabot[bot]'",
        ].join(" "),
        ...check,
        permissions: { contents: "read", "id-token": "write", "pull-requests": "write" },
      },
    });
  });

  it("runs exactly these steps", () => {
    expect(jobs.check?.steps.map(line)).toEqual([
      ...checkedOut,
      "npm test",
      "npx cdk synth -q",
      "pipx run --spec zizmor==1.32.0 zizmor --offline .github",
      "npm audit --omit=dev --audit-level=high",
      "npm audit signatures",
    ]);
    expect(jobs.diff?.steps.map(line)).toEqual([
      ...checkedOut,
      "npx cdk synth -q",
      credentials,
      "npx cdk diff --app cdk.out --method template --no-fail 2>&1 | tee diff.txt",
      "{",
    ]);
  });
});

describe.each(files)("%s", (file) => {
  const steps = Object.values(workflows[file]?.jobs ?? {}).flatMap((job) => job.steps);
  const commands = steps.flatMap(({ run }) => run ?? []);

  it("names the version of every action next to its commit", () => {
    for (const uses of read(folder + file).match(/^.*uses:.*$/gm) ?? []) {
      expect(uses).toMatch(/uses: [\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it("ignores no failure and skips no step but the key's end", () => {
    for (const step of steps) {
      expect(step["continue-on-error"]).toBeUndefined();
      if (step.if !== undefined) expect(step.if).toBe("always() && steps.key.outputs.id != ''");
    }
    for (const command of commands)
      expect(command).not.toMatch(/\|\| *(true|:|echo|exit 0)|set \+e|;\s*true/);
  });

  it("gets AWS credentials by OIDC, from the role that the environment names", () => {
    expect(read(folder + file)).not.toMatch(/\bsecrets\b/);
    for (const { uses, with: inputs } of steps) {
      if (!uses?.startsWith(credentials)) continue;
      const role = file === "deploy.yml" ? "AWS_DEPLOY_ROLE_ARN" : "AWS_DIFF_ROLE_ARN";
      expect(inputs).toEqual({
        "role-to-assume": expression(`vars.${role}`),
        "aws-region": expression("vars.AWS_REGION"),
      });
    }
  });

  it("runs only commands that exist", () => {
    const named = (pattern: RegExp) =>
      commands.flatMap((script) => [...script.matchAll(pattern)].map(([, name]) => name));
    const npm = named(/\bnpm (?:run (?:-s )?)?(?!ci\b|audit\b|run\b)([\w:-]+)/g);
    expect(npm).toContain("test");
    for (const name of npm) expect(Object.keys(scripts)).toContain(name);
    for (const name of named(/\bnpx ([\w-]+)/g)) {
      expect(existsSync(new URL(`node_modules/.bin/${name}`, root))).toBe(true);
    }
  });
});

it("waits a week before it updates a package or an action", () => {
  const { updates } = parse(read(".github/dependabot.yml"));
  expect(
    updates.map((update: Record<string, unknown>) => [update["package-ecosystem"], update.cooldown]),
  ).toEqual([
    ["npm", { "default-days": 7 }],
    ["github-actions", { "default-days": 7 }],
  ]);
});
