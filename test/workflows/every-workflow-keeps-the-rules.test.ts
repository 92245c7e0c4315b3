import { spawnSync } from "node:child_process";
import { mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { parse } from "yaml";
import { DEPLOYED_BRANCH, pascalCase } from "../../infra/names.ts";
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
  const env = { TMPDIR: folder.path, ...environment, PATH, GITHUB_OUTPUT: join(folder.path, "output") };
  const options = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
  return spawnSync("bash", options, { cwd: new URL("../", github), env, encoding: "utf8" });
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
  expect(on.push.branches).toEqual([DEPLOYED_BRANCH]);
  expect(jobs.check.if).toBe(`github.ref == 'refs/heads/${DEPLOYED_BRANCH}'`);
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

const { run: script } = runs.steps.find(({ id }: Json) => id === "deploy");
/** The requests of a deployment: to which function, with which right status and which arguments of curl. */
const requests = [...script.matchAll(/^ *"\$1" (\w+) (\d+) (.*)$/gm)] as string[][];

it("a deployment sends a request to every operation", () => {
  expect(requests.map(([, name]) => name).sort()).toEqual(operations.map(({ id }) => pascalCase(id)).sort());
});

// The deployment ends after 6 requests to each operation. Each question about the time takes 20 seconds.
const ANSWERS = 6;
const count = (name: string) => `$(cat "\${0%/*}/${name}" 2> /dev/null || echo 0)`;
const known = requests.map(([, name, status, args = ""]) => {
  const sent = args.replaceAll("$url", "https://x/v1").replaceAll(" ", "\\ ");
  return `*code}\\ ${sent}\\ -H*) name=${name} right=${status} ;;`;
});
const programs = {
  aws: `case $* in *BaseUrl*) echo https://x/v1 ;; *FunctionName*) echo f g ;; *get-alias*) echo \${VERSION:-17} ;;
    *list-stack-resources*) printf 'x:f:17\\tx:g:17\\tx:h:7' ;; esac`,
  npx: `[[ "$*" == "cdk deploy animal-store-x --exclusively "* && ! $API_KEY ]] && \${DEPLOYED:-true} || exit 3
    until [[ ${count(requests.at(-1)?.[1] ?? "")} -ge ${ANSWERS} || $((tries += 1)) -gt 1500 ]]; do /bin/sleep 0.02; done`,
  // The cache of API Gateway would answer to a key that is sent as before.
  curl: `case $* in ${known.join("\n")} esac; n=$((${count("$name")} + 1)); echo $n > "\${0%/*}/$name"; key=\${!#}
    grep -x 'Authorization: Bearer  *secret' "\${key#@}" >> "\${0%/*}/keys" || ANSWER='echo 401'
    [[ ! $(sort "\${0%/*}/keys" | uniq -d) ]] || ANSWER='echo 403'
    eval "$ANSWER"`,
  date: `n=$((${count("clock")} + 20)); echo $n | tee "\${0%/*}/clock"`,
  sleep: "/bin/sleep 0.02",
};
const wrongIf = (condition: string, status: number) => ({
  ANSWER: `[[ $name == ListPets && ${condition} ]] && echo ${status} || echo $right`,
});
it.each<[what: string, environment: Record<string, string>, status: number, prints: RegExp]>([
  ["right answers", { ANSWER: "echo $right" }, 0, /^GetPet: \d+ right answers, then 0 wrong/m],
  ["a new operation", wrongIf(`$n -le ${ANSWERS}`, 404), 0, /^ListPets: [12] right answers, then 0 wrong/m],
  ["two wrong answers", wrongIf("$n == [24]", 503), 0, /^ListPets: .*, then 2 wrong/m],
  ["three wrong answers", wrongIf("$n == [246]", 503), 1, /^ListPets: .* 3 .*\nRoll back .* ListPetsF/m],
  ["a wrong authorizer", { ANSWER: "[[ $n -le 3 ]] && echo $right || echo 401" }, 1, /401\.\nRoll back/],
  ["no responses", { ANSWER: "echo 000; exit 7" }, 1, /^GetPet: 0 .*, at last 000\.\nNo right answer/m],
  ["an ended key", { ANSWER: "echo 401" }, 1, /^Only 401: /m],
  ["a moved alias", { VERSION: "7" }, 1, /^f serves version 7, and CloudFormation knows 17:/m],
  ["a failure of cdk", { DEPLOYED: "false" }, 3, /^The stack is .*\n$/],
])("a deployment with %s ends as it should", (_what, environment, status, prints) => {
  const result = run(script, programs, { STAGE: "x", API_KEY: "secret", ...environment });
  expect(result).toMatchObject({ status, stdout: expect.stringMatching(prints) });
  expect(result.stdout.includes("Only 401")).toBe(environment.ANSWER === "echo 401");
});
