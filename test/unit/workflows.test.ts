import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { parse } from "yaml";
import { stackName, stages } from "../../infra/stages.ts";

// The rules of this project. The pull-request workflow runs zizmor, which checks the rest.

interface Step {
  name?: string;
  id?: string;
  if?: string;
  uses?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
  run?: string;
}
interface Job {
  // biome-ignore lint/suspicious/noExplicitAny: the settings of a job are untyped YAML
  [setting: string]: any;
  steps: Step[];
}

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));

const files = readdirSync(new URL(".github/workflows/", root));
const workflows = Object.fromEntries(files.map((file) => [file, parse(read(`.github/workflows/${file}`))]));
const jobsOf = (file: string) => Object.entries<Job>(workflows[file].jobs);
const jobs = new Map<string, Job>(
  files.flatMap((file) => jobsOf(file).map(([name, job]) => [`${file} ${name}`, job] as const)),
);
const stepsOf = (job: string) => jobs.get(job)?.steps ?? [];
/** The scripts of a job, with continued lines in one. */
const commands = (job: string) =>
  stepsOf(job).flatMap(({ run }) => run?.trim().replaceAll(/ \\\n\s*/g, " ") ?? []);

const oidc = { contents: "read", "id-token": "write" };
const revokes = "always() && steps.key.outputs.id != ''";

/** An expression as GitHub writes it. */
const expression = (text: string) => `\${{ ${text} }}`;

it("has exactly these jobs with an environment, or with more rights than to read the code", () => {
  const rights = [...jobs].map(([name, { environment, permissions }]) => [name, environment, permissions]);
  const ordinary = JSON.stringify([undefined, { contents: "read" }]);
  const pages = { name: "github-pages", url: expression("steps.deployment.outputs.page_url") };
  expect(rights.filter(([, ...rest]) => JSON.stringify(rest) !== ordinary)).toEqual([
    ...stages.map(({ name }) => [`deploy.yml ${name}`, name, oidc]),
    ["pull-request.yml diff", undefined, { ...oidc, "pull-requests": "write" }],
    ["release.yml release", undefined, { contents: "write" }],
    ["release.yml pages", pages, { pages: "write", "id-token": "write" }],
  ]);
});

it("starts for exactly these events", () => {
  expect(Object.fromEntries(files.map((file) => [file, workflows[file].on]))).toEqual({
    "deploy.yml": { push: { branches: ["main"] }, workflow_dispatch: null },
    "pull-request.yml": { pull_request: { branches: ["main"] } },
    "release.yml": { push: { tags: ["v*"] } },
  });
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

describe("actions", () => {
  const uses = [...jobs].flatMap(([job, { steps }]) =>
    steps.flatMap(({ uses, with: inputs }) =>
      uses ? [{ job, action: uses.split("@")[0] ?? "", inputs }] : [],
    ),
  );

  it("are pinned to one commit each, with its version", () => {
    const lines = files.flatMap((file) => read(`.github/workflows/${file}`).match(/^.*\buses:.*$/gm) ?? []);
    expect(lines).toHaveLength(uses.length);
    const pins = new Set(lines.map((line) => /uses: (\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.exec(line)?.[1]));
    expect(pins).not.toContain(undefined);
    expect(pins.size).toBe(new Set(uses.map(({ action }) => action)).size);
  });

  it("never keep the token that checks out the code, and check out nothing unusual", () => {
    const checkouts = uses.filter(({ action }) => action === "actions/checkout");
    const unusual = checkouts.flatMap(({ job, inputs: { "persist-credentials": kept, ...rest } = {} }) => {
      expect([job, kept]).toEqual([job, false]);
      return Object.keys(rest).length > 0 ? [[job, rest]] : [];
    });
    expect(unusual).toEqual([
      ["pull-request.yml compatibility", { "fetch-depth": 0 }],
      ["pull-request.yml diff", { ref: expression("github.event.pull_request.base.sha") }],
      ["release.yml release", { ref: expression("github.ref") }],
    ]);
  });

  it("set up Node 24, without a cache where a release is built or where credentials meet a pull request", () => {
    const setups = uses.filter(({ action }) => action === "actions/setup-node");
    const uncached = ["pull-request.yml diff", "release.yml build"];
    for (const { job, inputs } of setups) {
      const cache = uncached.includes(job) ? { "package-manager-cache": false } : { cache: "npm" };
      expect([job, inputs]).toEqual([job, { "node-version": 24, ...cache }]);
    }
  });

  it("are only those of GitHub and AWS, with these inputs", () => {
    const others = uses.filter(
      ({ action }) =>
        !/^(actions\/(checkout|setup-node)|aws-actions\/configure-aws-credentials)$/.test(action),
    );
    expect(others.map(({ action, inputs }) => [action, inputs])).toEqual([
      [
        "actions/upload-artifact",
        {
          name: "assembly",
          path: "cdk.out/*.json",
          "if-no-files-found": "error",
        },
      ],
      ["actions/download-artifact", { name: "assembly", path: "assembly" }],
      ["actions/upload-pages-artifact", { path: "build/docs" }],
      ["actions/deploy-pages", undefined],
    ]);
  });
});

describe("a script", () => {
  /** The variables that commands read from the environment. */
  const reads: [command: RegExp, variable: string][] = [
    [/npm run (test:contract|traffic)\b/, "API_KEY"],
    [/\bgh /, "GH_TOKEN"],
    [/cdk diff/, "NO_COLOR"],
  ];
  const steps = [...jobs].flatMap(([job, { steps }]) =>
    steps.flatMap(({ run = "", env = {}, name }) => (run ? [{ step: `${job}: ${name}`, run, env }] : [])),
  );

  it("has the variables that it reads, and no others", () => {
    const variables = steps.map(({ step, env }) => [step, Object.keys(env).sort()]);
    const expected = steps.map(({ step, run }) => {
      const used = [...run.matchAll(/\$\{?([A-Z_]+)\b/g)].map(([, name = ""]) => name);
      const own = used.filter((name) => !/^(GITHUB|RUNNER)_/.test(name));
      const read = reads.flatMap(([command, variable]) => (command.test(run) ? [variable] : []));
      return [step, [...new Set([...own, ...read])].sort()];
    });
    expect(variables).toEqual(expected);
  });

  it("gets exactly these values, and no other variables of a job or a workflow", () => {
    const values = new Set(steps.flatMap(({ env }) => Object.entries(env).map((entry) => entry.join(": "))));
    expect([...values].sort()).toEqual([
      `API_KEY: ${expression("steps.key.outputs.key")}`,
      `GH_TOKEN: ${expression("github.token")}`,
      `KEY_ID: ${expression("steps.key.outputs.id")}`,
      "NO_COLOR: 1",
      `NUMBER: ${expression("github.event.pull_request.number")}`,
    ]);
    expect([...jobs.values(), ...Object.values(workflows)].filter(({ env }) => env !== undefined)).toEqual(
      [],
    );
  });

  it("is not built from an expression, prints no commands, and checks certificates", () => {
    const texts = steps.map(({ run }) => run).join("\n");
    expect(texts).not.toMatch(
      /\$\{\{|set -\w*x|--insecure|curl( \S+)* -\w*k|http:|NODE_TLS|NODE_OPTIONS|strict-ssl/,
    );
    const installs = new Set(texts.match(/npm (ci|i|install|add)\b.*/g));
    expect(installs).toEqual(new Set(["npm ci", "npm ci --ignore-scripts"]));
  });
});

const checks = ["npm ci", "npm test"];

it("has the same checks on any machine, and starts no two checks or publications of the same thing", () => {
  const script = read(".ci/run").trim().split("\n");
  expect(script.filter((line) => !line.startsWith("#"))).toEqual([
    "set -euo pipefail",
    'cd "$(dirname "$0")/.."',
    ...checks,
  ]);
  const concurrency = (group: string, cancelled: boolean) => ({ group, "cancel-in-progress": cancelled });
  const ofPullRequest = `pull-request-${expression("github.event.pull_request.number")}`;
  expect(workflows["pull-request.yml"].concurrency).toEqual(concurrency(ofPullRequest, true));
  expect(jobs.get("release.yml pages")?.concurrency).toEqual(concurrency("pages", false));
});

it("deploys main only, and after the tests", () => {
  const job = "deploy.yml check";
  expect([jobs.get(job)?.if, commands(job)]).toEqual(["github.ref == 'refs/heads/main'", checks]);
});

const inOrder = stages.map((stage, index) => ({ ...stage, needs: stages[index - 1]?.name ?? "check" }));

describe.each(inOrder)("$name", ({ name, needs, canary, protection }) => {
  const job = `deploy.yml ${name}`;
  const lines = commands(job).join("\n").split("\n");
  const yes = protection ? " --yes" : "";

  it(`is deployed after ${needs}, one deployment at a time`, () => {
    const concurrency = { group: `deploy-${name}`, "cancel-in-progress": false };
    expect(jobs.get(job)).toMatchObject({ needs, concurrency });
    const options = "--exclusively --require-approval never --outputs-file outputs.json";
    // A canary measures the requests that it gets.
    const traffic = canary ? 'npm run traffic -- --url "$url" -- ' : "";
    const deploy = `${traffic}npx cdk deploy ${stackName(name)} ${options}`;
    expect(lines.filter((line) => line.includes("cdk "))).toEqual([deploy]);
  });

  it("masks the key that it issues before anything else uses it, and always revokes it", () => {
    const used = lines.findIndex((line) => line.includes("keys -- issue"));
    expect(lines.slice(used, used + 4)).toEqual([
      `issued=$(npm run -s keys -- issue --stage ${name}${yes} --name "ci-$GITHUB_RUN_ID" --expires 1h --json)`,
      'key=$(jq -r .key <<< "$issued")',
      'echo "::add-mask::$key"',
      `jq -r '"id=\\(.keyId)", "key=\\(.key)"' <<< "$issued" >> "$GITHUB_OUTPUT"`,
    ]);
    expect(stepsOf(job).at(-1)).toEqual({
      name: "Revoke the key",
      if: revokes,
      env: { KEY_ID: expression("steps.key.outputs.id") },
      run: `npm run -s keys -- revoke "$KEY_ID" --stage ${name}${yes}`,
    });
  });
});

it("tests the contract in staging, and sends requests to production during and after its deployment", () => {
  const url = (name: string) => `url=$(jq -r '."${stackName(name)}".BaseUrl' outputs.json)`;
  expect(commands("deploy.yml staging").at(-2)).toBe(
    `${url("staging")}\nnpm run test:contract -- --url "$url"`,
  );
  const [, , deploy, after = ""] = commands("deploy.yml production");
  expect(deploy?.split("\n")).toEqual([
    `url=$(aws cloudformation describe-stacks --stack-name ${stackName("production")} --output text --query "Stacks[0].Outputs[?OutputKey=='BaseUrl'].OutputValue")`,
    expect.stringMatching(/^npm run traffic -- --url "\$url" -- npx cdk deploy /),
  ]);
  expect(after.split("\n").filter((line) => !/^(#|echo) ?/.test(line))).toEqual([
    `${url("production")}/pets`,
    `status() { curl -sS -o /dev/null -w '%{http_code}' --retry 5 --retry-all-errors --max-time 10 "$@" "$url"; }`,
    'with=$(status -H "Authorization: Bearer $API_KEY")',
    "without=$(status)",
    "[[ $with == 200 && $without == 401 ]]",
  ]);
});

it("checks every pull request, and compares its document with the last release", () => {
  expect(commands("pull-request.yml check")).toEqual([
    ...checks,
    "npx cdk synth -q",
    expect.stringMatching(/^pipx run --spec zizmor==[\d.]+ zizmor --offline \.github$/),
    "npm audit --omit=dev --audit-level=high",
    "npm audit signatures",
  ]);
  expect(commands("pull-request.yml compatibility").join().split("\n")).toEqual([
    "release=$(git for-each-ref --merged HEAD^1 --sort=-version:refname --count=1 --format='%(refname)' 'refs/tags/v*')",
    `git show "\${release:-HEAD^1}:openapi.json" > "$RUNNER_TEMP/openapi.json"`,
    expect.stringMatching(
      /^go run github\.com\/oasdiff\/oasdiff@v[\d.]+ breaking "\$RUNNER_TEMP\/openapi\.json" openapi\.json --fail-on WARN --severity-levels openapi\/severity-levels\.txt$/,
    ),
  ]);
});

it("runs the code of a pull request only where no credentials are", () => {
  expect(commands("pull-request.yml synthesize")).toEqual(["npm ci", "npx cdk synth -q"]);
  expect(jobs.get("pull-request.yml synthesize")?.if).toBe("vars.AWS_DIFF_ROLE_ARN != ''");
  const job = "pull-request.yml diff";
  expect(jobs.get(job)?.needs).toBe("synthesize");
  expect(stepsOf(job).map(({ uses, name }) => uses?.split("@")[0] ?? name)).toEqual([
    "actions/checkout",
    "actions/setup-node",
    "Install",
    "actions/download-artifact",
    "The assembly names only its own files",
    "aws-actions/configure-aws-credentials",
    "Compare all stacks with what is deployed",
    "Comment on the pull request",
  ]);
  const [install, guard = "", diff, comment = ""] = commands(job);
  expect(install).toBe("npm ci --ignore-scripts");
  expect(guard.split("\n")).toEqual([
    "[[ -z $(find assembly -type l) ]]",
    `jq -es '[.. | objects | to_entries[] | select(.key | test("file|directory|asset:path"; "i")) | .value | strings`,
    `  | select(contains("/"))] == []' assembly/*.json`,
  ]);
  expect(diff).toBe(
    "npx cdk diff --app assembly --method template --no-lookups --no-fail 2>&1 | tee diff.txt",
  );
  // GitHub refuses a longer comment. Nothing in the difference may look like Markdown.
  expect(comment).toMatch(
    /\n {2}echo '````'\n.*\n {2}head -c 60000 diff.txt\n {2}echo\n {2}echo '````'\n\} > comment.md\n/,
  );
  expect(comment.split("\n").at(-1)).toBe(
    'gh pr comment "$NUMBER" --repo "$GITHUB_REPOSITORY" --edit-last --create-if-none --body-file comment.md',
  );
});

it("publishes a release only if the repository is filled in, with the message of the tag", () => {
  for (const job of ["release.yml release", "release.yml pages"]) {
    expect(jobs.get(job)).toMatchObject({ needs: "build", if: "needs.build.outputs.publish == 'true'" });
  }
  const [publish = "", ...rest] = commands("release.yml build");
  expect(publish.split(/\n */)).toEqual([
    "node --input-type=module --eval '",
    'import { repository } from "./infra/repository.ts";',
    'console.log("publish=" + (repository !== undefined));',
    `' >> "$GITHUB_OUTPUT"`,
  ]);
  expect(jobs.get("release.yml build")?.outputs).toEqual({
    publish: expression("steps.repository.outputs.publish"),
  });
  expect(rest).toEqual(["npm ci", "npm run docs"]);
  expect(commands("release.yml release")).toEqual([
    'gh release create "$GITHUB_REF_NAME" --verify-tag --notes-from-tag',
  ]);
});

it.each(files)(
  "%s ignores no failure, skips only the end of a missing key, and runs scripts that exist",
  (file) => {
    // With this shell, a failure within a pipe counts.
    expect(workflows[file].defaults).toEqual({ run: { shell: "bash" } });
    expect(workflows[file].permissions).toEqual({});
    expect(read(`.github/workflows/${file}`)).not.toMatch(
      /continue-on-error|set \+e|\|\| *(true|:|echo|exit 0)|; *true|shell: (?!bash)/,
    );
    for (const [name, job] of jobsOf(file)) {
      expect(job).toMatchObject({ "runs-on": "ubuntu-latest", "timeout-minutes": expect.any(Number) });
      // A deployment that is cut off leaves a stack or a release in between.
      expect(job["timeout-minutes"]).toBeGreaterThanOrEqual(/cdk deploy/.test(JSON.stringify(job)) ? 30 : 10);
      for (const [, id] of JSON.stringify(job).matchAll(/\bsteps\.(\w+)\.outputs/g))
        expect(job.steps.map((step) => step.id)).toContain(id);
      for (const step of job.steps) expect(step.if ?? revokes).toBe(revokes);
      const started = commands(`${file} ${name}`)
        .join("\n")
        .matchAll(/\bnpm run (?:-s )?([\w:]+)/g);
      for (const [, script = ""] of started) expect(scripts).toHaveProperty([script]);
    }
  },
);
