import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { describe, expect, it, jest } from "@jest/globals";
import { parse } from "yaml";
import { program } from "../../../cli/keys.ts";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { budget } from "../../../infra/budget.ts";
import { githubRepository } from "../../../infra/github-repository.ts";
import { pascalCase } from "../../../infra/pascal-case.ts";
import { accountStackName, deployedStages, stackName } from "../../../infra/stages.ts";
import { exampleSettings } from "../../support/account.ts";
import { recordCalls } from "../../support/calls.ts";
import { allows } from "../../support/iam.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { readResources } from "../../support/resources.ts";
import { runInProcess } from "../../support/run-in-process.ts";

// Who deploys, and what they can do: the account stack, for the example repository of test/support/account.ts.

const assembly = process.env.TEST_ASSEMBLY ?? "";
const tables = await createOwnTables();
const takeCalls = recordCalls();
const { find, only, output, statementsOf } = readResources(
  process.env.TEST_ACCOUNT_ASSEMBLY,
  accountStackName,
);

const ISSUER = "token.actions.githubusercontent.com";
const REPOSITORY = "repo:acme@1234567/animal-store@7654321";
const names = deployedStages.map(({ name }) => name);
const deployRoles = names.map((name) => `${pascalCase(name)}Deploy`);
const roles = find("IAM::Role").map(({ id, Properties }) => {
  const name = [...deployRoles, "Diff"].find((role) => output(`${role}RoleArn`)?.endsWith(`:${id}`));
  const trust: object[] = Properties.AssumeRolePolicyDocument.Statement;
  return { id, name: name ?? "ApiGatewayLogs", trust, managed: Properties.ManagedPolicyArns ?? [] };
});

/** The roles that a principal can assume with an action. */
const assumable = (action: string, principal: Record<string, string>, context = {}) =>
  roles.filter(({ trust }) => allows(trust, { action, principal, context })).map(({ name }) => name);

/** The roles that a job of GitHub can assume, by the subject and the audience of its token. */
const assumableByJob = (sub: string, aud?: string, provider = only("IAM::OIDCProvider").id) =>
  assumable(
    "sts:AssumeRoleWithWebIdentity",
    { Federated: provider },
    { [`${ISSUER}:sub`]: sub, [`${ISSUER}:aud`]: aud },
  );

const actionsOf = (role = "") =>
  statementsOf(role)
    .flatMap(({ Action }) => Action)
    .sort();

describe("a job of GitHub", () => {
  const jobs: [subject: string, roles: string[]][] = [
    ...names.map((name): [string, string[]] => [`environment:${name}`, [`${pascalCase(name)}Deploy`]]),
    ["pull_request", ["Diff"]],
    ...[
      "ref:refs/heads/main",
      "ref:refs/tags/v1.0.0",
      "environment:github-pages",
      "environment:production2",
    ].map((subject): [string, string[]] => [subject, []]),
  ];
  // The form without ids, and those of others.
  const others = ["acme/animal-store", "acme@1/animal-store@7654321", "acme@1234567/animal-store@1"];

  it.each(jobs)("with %s can assume %j, and nothing with a token for others", (subject, expected) => {
    expect(assumableByJob(`${REPOSITORY}:${subject}`, "sts.amazonaws.com")).toEqual(expected);
    for (const audience of ["https://github.com/acme", undefined])
      expect(assumableByJob(`${REPOSITORY}:${subject}`, audience)).toEqual([]);
    expect(assumableByJob(`${REPOSITORY}:${subject}`, "sts.amazonaws.com", "another-provider")).toEqual([]);
    for (const repository of [...others, `evil@1/${REPOSITORY}`])
      expect(assumableByJob(`repo:${repository}:${subject}`, "sts.amazonaws.com")).toEqual([]);
  });

  it("gets its token from GitHub", () => {
    expect(only("IAM::OIDCProvider")).toMatchObject({
      Url: `https://${ISSUER}`,
      ClientIdList: ["sts.amazonaws.com"],
    });
  });
});

it("nobody else can assume a role, but API Gateway the one for its logs", () => {
  expect(assumable("sts:AssumeRole", { Service: "apigateway.amazonaws.com" })).toEqual(["ApiGatewayLogs"]);
  expect(assumable("sts:AssumeRole", { Service: "lambda.amazonaws.com" })).toEqual([]);
  expect(assumable("sts:AssumeRole", { AWS: "arn:aws:iam::000000000000:root" })).toEqual([]);
});

/** The arguments of `npm run keys` in the workflow's job of a stage. */
function keyCommands(stage: string): string[][] {
  const { jobs } = parse(
    readFileSync(new URL("../../../.github/workflows/deploy.yml", import.meta.url), "utf8"),
  );
  const scripts: string[] = jobs[stage].steps.flatMap(({ run = "" }) => run);
  return [...scripts.join("\n").matchAll(/npm run -s keys -- ([^)\n]+)/g)].map(([, args = ""]) =>
    args.replaceAll('"', "").split(" "),
  );
}

/** Runs key commands, and returns the calls of AWS that they make. `$KEY_ID` is the key that the first one issues. */
async function callsOf(commands: string[][]): Promise<string[]> {
  const Stacks = [{ Outputs: [{ OutputKey: "ApiKeysTableName", OutputValue: tables.keys }] }];
  const target = CloudFormationClient.prototype as unknown as { send(command: object): Promise<object> };
  const describeStacks = jest.spyOn(target, "send").mockResolvedValue({ Stacks });
  const environment = { ...process.env, AWS_REGION: "eu-west-1" } as Record<string, string>;
  let issued: { keyId: string } | undefined;
  for (const args of commands) {
    const given = args.map((arg) => arg.replace("$KEY_ID", issued?.keyId ?? ""));
    const { code, stdout, stderr } = await runInProcess(program, "keys", given, environment);
    expect([code, stderr]).toEqual([0, ""]);
    issued ??= JSON.parse(stdout);
  }
  const described = describeStacks.mock.calls.map(([command]) => command.constructor.name);
  describeStacks.mockRestore();
  return [
    ...described.map((command) => `cloudformation:${command}`),
    ...takeCalls().map(({ command }) => `dynamodb:${command}`),
  ].map((call) => call.replace(/Command$/, ""));
}

describe("a role for GitHub", () => {
  const account = "000000000000";
  const role = (name: string, owner = account) => `arn:aws:iam::${owner}:role/${name}`;
  const bootstrap = (name: string) => role(`cdk-hnb659fds-${name}-role-${account}-local`);
  const own = (service: string, resource: string) => `arn:aws:${service}:local:${account}:${resource}`;
  const table = (name: string) => own("dynamodb", `table/${name}`);

  it.each<[action: string, resource: string, roles: string[]]>([
    ["sts:AssumeRole", bootstrap("deploy"), deployRoles],
    ["sts:AssumeRole", bootstrap("file-publishing"), deployRoles],
    ["sts:AssumeRole", bootstrap("lookup"), [...deployRoles, "Diff"]],
    ["sts:AssumeRole", role("Admin"), []],
    ["sts:AssumeRole", role("animal-store-account-ProductionDeploy"), []],
    ["sts:AssumeRole", role(`cdk-hnb659fds-deploy-role-${account}-elsewhere`), []],
    ["sts:AssumeRole", role("cdk-hnb659fds-deploy-role-111111111111-local", "111111111111"), []],
    ...names.flatMap((name): [string, string, string[]][] => [
      [
        "cloudformation:DescribeStacks",
        own("cloudformation", `stack/${stackName(name)}/1`),
        [`${pascalCase(name)}Deploy`],
      ],
      ["dynamodb:PutItem", table(`${stackName(name)}-ApiKeys1-ABC`), [`${pascalCase(name)}Deploy`]],
      ["dynamodb:PutItem", table(`${stackName(name)}-Pets1-ABC`), []],
    ]),
    ["cloudformation:DescribeStacks", own("cloudformation", `stack/${accountStackName}/1`), []],
  ])("%s on %s is for %j only", (action, resource, expected) => {
    const allowed = roles.filter(({ id }) => allows(statementsOf(id), { action, resource }));
    expect(allowed.map(({ name }) => name)).toEqual(expected);
  });

  it("of a stage may make exactly the calls of the workflow's key commands, and deploy", async () => {
    for (const name of names) {
      const role = roles.find((one) => one.name === `${pascalCase(name)}Deploy`);
      const calls = ["sts:AssumeRole", ...(await callsOf(keyCommands(name)))];
      expect(actionsOf(role?.id)).toEqual([...new Set(calls)].sort());
    }
  });

  it("has no other policy", () => {
    for (const { name, managed } of roles) expect(managed).toHaveLength(name === "ApiGatewayLogs" ? 1 : 0);
    for (const { Properties } of find("IAM::Role")) expect(Properties).not.toHaveProperty("Policies");
    const [diff] = roles.filter(({ name }) => name === "Diff");
    expect(actionsOf(diff?.id)).toEqual(["sts:AssumeRole"]);
  });
});

describe("the account", () => {
  const manifest = JSON.parse(readFileSync(join(assembly, "manifest.json"), "utf8"));

  it("has one role for the logs of API Gateway, which no stage owns and every stage needs", () => {
    const [log] = roles.filter(({ name }) => name === "ApiGatewayLogs");
    expect(only("ApiGateway::Account").CloudWatchRoleArn).toMatch(new RegExp(`:${log?.id}$`));
    for (const name of names) {
      expect(readResources(assembly, stackName(name)).find("ApiGateway::Account")).toEqual([]);
      expect(manifest.artifacts[stackName(name)].dependencies).toContain(accountStackName);
    }
  });

  it("keeps what others in the account also use when the stack is deleted", () => {
    const logRole = find("IAM::Role").filter(({ id }) => /Logs/.test(id));
    const shared = [...find("ApiGateway::Account"), ...logRole, ...find("IAM::OIDCProvider")];
    const kept = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" };
    expect(shared).toMatchObject([kept, kept, kept]);
  });

  it("sends a message when the costs exceed the budget, or are expected to", () => {
    const { Budget, NotificationsWithSubscribers: notifications } = only("Budgets::Budget");
    expect(Budget.BudgetLimit.Amount).toBe(exampleSettings.budget.monthlyUsd);
    const types = notifications.map(({ Notification, Subscribers }: Json) => {
      expect(Subscribers).toEqual([{ SubscriptionType: "EMAIL", Address: exampleSettings.budget.email }]);
      return Notification.NotificationType;
    });
    expect(types).toEqual(expect.arrayContaining(["ACTUAL", "FORECASTED"]));
  });

  it("has deploy roles and a budget only if someone fills them in", () => {
    const own = readResources(assembly, accountStackName);
    expect(own.find("Budgets::Budget")).toHaveLength(budget ? 1 : 0);
    expect(own.find("IAM::Role").length > 1).toBe(githubRepository !== undefined);
  });
});
