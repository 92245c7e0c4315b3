import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { describe, expect, it, jest } from "@jest/globals";
import { program } from "../../../cli/keys.ts";
import { budget } from "../../../infra/budget.ts";
import { githubRepository } from "../../../infra/github-repository.ts";
import { pascalCase } from "../../../infra/pascal-case.ts";
import { accountStackName, deployedStages, stackName } from "../../../infra/stages.ts";
import { exampleSettings } from "../../support/account.ts";
import { recordCalls } from "../../support/calls.ts";
import { allows } from "../../support/iam.ts";
import type { Json } from "../../support/json.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { arnOf, readResources } from "../../support/resources.ts";
import { runInProcess } from "../../support/run-in-process.ts";
import { jobOf } from "../../support/workflows.ts";

// Who deploys, and what they can do: the account stack, for the example repository of test/support/account.ts.

const assembly = process.env.TEST_ASSEMBLY ?? "";
const tables = await createOwnTables();
const takeCalls = recordCalls();
const { find, only, output, statementsOf } = readResources(
  process.env.TEST_ACCOUNT_ASSEMBLY,
  accountStackName,
);

const ISSUER = "token.actions.githubusercontent.com";
const names = deployedStages.map(({ name }) => name);
const deployRole = (stage: string) => `${pascalCase(stage)}Deploy`;
const deployRoles = names.map(deployRole);
const roles: Json[] = find("IAM::Role").map((role) => {
  const name = deployRoles.find((name) => output(`${name}RoleArn`) === arnOf(role.id));
  const { AssumeRolePolicyDocument, ...others } = role;
  const policies = { trust: AssumeRolePolicyDocument.Statement, statements: statementsOf(role.id) };
  return { name: name ?? "ApiGatewayLogs", ...policies, ...others };
});

/** The names of the roles whose trust policy, or whose own statements, allow a request. */
const allowedBy = (policy: "trust" | "statements", request: Parameters<typeof allows>[1]) =>
  roles.filter((role) => allows(role[policy], request)).map(({ name }) => name);

describe("a job of GitHub", () => {
  it.each<[subject: string, roles: string[]]>([
    ...names.map((name): [string, string[]] => [`environment:${name}`, [deployRole(name)]]),
    ["pull_request", []],
    ["ref:refs/heads/main", []],
    ["ref:refs/tags/v1.0.0", []],
    ["environment:github-pages", []],
    ["environment:production2", []],
  ])("with %s can assume %j, and nothing with a token for others", (subject, expected) => {
    const own = {
      repository: "acme@1234567/animal-store@7654321",
      aud: "sts.amazonaws.com",
      Federated: only("IAM::OIDCProvider").id,
    };
    const assumable = (token: object) => {
      const { repository, aud, ...principal } = { ...own, ...token };
      const context = { [`${ISSUER}:sub`]: `repo:${repository}:${subject}`, [`${ISSUER}:aud`]: aud };
      return allowedBy("trust", { action: "sts:AssumeRoleWithWebIdentity", principal, context });
    };
    expect(assumable(own)).toEqual(expected);
    for (const other of [
      { Federated: "another-provider" },
      { aud: "https://github.com/acme" },
      { aud: undefined },
      { repository: "acme/animal-store" }, // the form without ids
      { repository: "acme@1/animal-store@7654321" },
      { repository: "acme@1234567/animal-store@1" },
      { repository: `evil@1/repo:${own.repository}` },
    ])
      expect(assumable(other)).toEqual([]);
  });

  it("gets its token from GitHub", () => {
    const provider = { Url: `https://${ISSUER}`, ClientIdList: ["sts.amazonaws.com"] };
    expect(only("IAM::OIDCProvider")).toMatchObject(provider);
  });

  it("is needed for every role but that of API Gateway", () => {
    const services = ["apigateway", "lambda"].map((name) => ({ Service: `${name}.amazonaws.com` }));
    const assumable = [...services, { AWS: "arn:aws:iam::000000000000:root" }].map((principal) =>
      allowedBy("trust", { action: "sts:AssumeRole", principal }),
    );
    expect(assumable).toEqual([["ApiGatewayLogs"], [], []]);
  });
});

/** Runs the key commands of a stage's job in the workflow, and returns the calls of AWS that they make. */
async function callsOfWorkflow(stage: string): Promise<string[]> {
  const text = jobOf(stage)
    .steps.map(({ run = "" }) => run)
    .join("\n");
  const target = CloudFormationClient.prototype as unknown as { send(command: object): Promise<object> };
  const Stacks = [{ Outputs: [{ OutputKey: "ApiKeysTableName", OutputValue: tables.keys }] }];
  const send = jest.spyOn(target, "send").mockResolvedValue({ Stacks });
  const environment = { ...process.env, AWS_REGION: "eu-west-1" } as Record<string, string>;
  let issued: { keyId: string } | undefined;
  for (const [, args = ""] of text.matchAll(/npm run -s keys -- ([^|\n]+)/g)) {
    const filled = args
      .replaceAll('"', "")
      .replace("$STAGE", stage)
      .replace("$KEY_ID", issued?.keyId ?? "");
    const { code, stdout, stderr } = await runInProcess(
      program,
      "keys",
      filled.trim().split(" "),
      environment,
    );
    expect([code, stderr]).toEqual([0, ""]);
    issued ??= JSON.parse(stdout);
  }
  const described = send.mock.calls.map(([command]) => `cloudformation:${command.constructor.name}`);
  send.mockRestore();
  const calls = [...described, ...takeCalls().map(({ command }) => `dynamodb:${command}`)];
  return calls.map((call) => call.replace(/Command$/, ""));
}

describe("a role for GitHub", () => {
  const account = "000000000000";
  const role = (name: string, owner = account) => `arn:aws:iam::${owner}:role/${name}`;
  const bootstrap = (name: string) => role(`cdk-hnb659fds-${name}-role-${account}-local`);
  const own = (service: string, resource: string) => `arn:aws:${service}:local:${account}:${resource}`;
  const describe = "cloudformation:DescribeStacks";
  const stack = (name: string) => own("cloudformation", `stack/${name}/1`);
  const put = "dynamodb:PutItem";
  const table = (stage: string, name: string) => own("dynamodb", `table/${stackName(stage)}-${name}1-ABC`);

  it.each<[action: string, resource: string, roles: string[]]>([
    ["sts:AssumeRole", bootstrap("deploy"), deployRoles],
    ["sts:AssumeRole", bootstrap("file-publishing"), deployRoles],
    ["sts:AssumeRole", bootstrap("lookup"), deployRoles],
    ["sts:AssumeRole", role("Admin"), []],
    ["sts:AssumeRole", role("animal-store-account-ProductionDeploy"), []],
    ["sts:AssumeRole", role(`cdk-hnb659fds-deploy-role-${account}-elsewhere`), []],
    ["sts:AssumeRole", role("cdk-hnb659fds-deploy-role-111111111111-local", "111111111111"), []],
    [describe, stack(accountStackName), []],
    ...names.flatMap((name): [string, string, string[]][] => [
      [describe, stack(stackName(name)), [deployRole(name)]],
      [put, table(name, "ApiKeys"), [deployRole(name)]],
      [put, table(name, "Pets"), []],
    ]),
  ])("%s on %s is for %j only", (action, resource, expected) => {
    expect(allowedBy("statements", { action, resource })).toEqual(expected);
  });

  it("may make exactly the calls of the workflow's key commands, and deploy", async () => {
    const calls: Record<string, string[]> = { ApiGatewayLogs: [] };
    for (const name of names) calls[deployRole(name)] = await callsOfWorkflow(name);
    for (const { name, statements, ManagedPolicyArns = [], Policies = [] } of roles) {
      const isOfGitHub = name !== "ApiGatewayLogs";
      const expected = new Set([...(isOfGitHub ? ["sts:AssumeRole"] : []), ...(calls[name] ?? [])]);
      expect(statements.flatMap(({ Action }: Json) => Action).sort()).toEqual([...expected].sort());
      expect([ManagedPolicyArns.length, Policies]).toEqual([isOfGitHub ? 0 : 1, []]);
    }
  });
});

// A deployment moves one function after the other to its new version. If the last one fails, all others move back.
it.each(names)(
  "the job, the key, the session and the role of %s last as long as a deployment and its rollback",
  (name) => {
    const { find } = readResources(assembly, stackName(name));
    const canaries = find("CodeDeploy::DeploymentGroup").map(({ DeploymentConfigName }) =>
      Number(/(\d+)Minutes$/.exec(DeploymentConfigName)?.[1]),
    );
    // With what CodeDeploy and CloudFormation take for each, and the other steps of the job.
    const each = Math.max(0, ...canaries) + 0.5;
    const needed = 10 + (2 * canaries.length - 1) * each;
    const job = jobOf(name);
    const text = JSON.stringify(job.steps);
    const [role] = roles.filter((role) => role.name === deployRole(name));
    const times = {
      job: job["timeout-minutes"],
      key: Number(/--expires-in (\d+)h/.exec(text)?.[1]) * 60,
      session: Number(/"role-duration-seconds":(\d+)/.exec(text)?.[1]) / 60,
      role: role?.MaxSessionDuration / 60,
    };
    const short = Object.entries(times).filter(([, minutes]) => !(minutes >= needed));
    expect([`${canaries.length} functions need ${needed} minutes`, short]).toEqual([expect.anything(), []]);
    // The last step revokes the key, and AWS refuses a session that is longer than its role allows.
    expect([times.key, times.session]).toEqual([times.role, times.role]);
    expect(times.job).toBeLessThanOrEqual(times.role);
  },
);

describe("the account", () => {
  const [log] = roles.filter(({ name }) => name === "ApiGatewayLogs");

  it("has one role for the logs of API Gateway, which no stage owns and every stage needs", () => {
    expect(only("ApiGateway::Account").CloudWatchRoleArn).toBe(arnOf(log?.id));
    const { artifacts } = JSON.parse(readFileSync(join(assembly, "manifest.json"), "utf8"));
    for (const stack of names.map(stackName)) {
      expect(readResources(assembly, stack).find("ApiGateway::Account")).toEqual([]);
      expect(artifacts[stack].dependencies).toContain(accountStackName);
    }
  });

  it("has roles for GitHub and a budget only if someone fills them in", () => {
    const own = readResources(assembly, accountStackName);
    const has = [own.find("IAM::Role").length > 1, own.find("Budgets::Budget").length > 0];
    expect(has).toEqual([githubRepository !== undefined, budget !== undefined]);
  });

  it("keeps what others in the account also use when the stack is deleted", () => {
    const kept = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" };
    for (const shared of [only("ApiGateway::Account"), only("IAM::OIDCProvider"), log])
      expect(shared).toMatchObject(kept);
  });

  it("sends a message when the costs exceed the budget, or are expected to", () => {
    const { Budget, NotificationsWithSubscribers: notifications } = only("Budgets::Budget");
    const { monthlyUsd, email: Address } = exampleSettings.budget;
    expect(Budget.BudgetLimit.Amount).toBe(monthlyUsd);
    const types = notifications.map(({ Notification }: Json) => Notification.NotificationType);
    expect(types.sort()).toEqual(["ACTUAL", "FORECASTED"]);
    for (const { Subscribers } of notifications)
      expect(Subscribers).toEqual([{ SubscriptionType: "EMAIL", Address }]);
  });
});
