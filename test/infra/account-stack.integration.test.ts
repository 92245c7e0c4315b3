import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { budget, githubRepository } from "../../infra/account-settings.ts";
import { accountStackName, pascalCase, stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { exampleSettings } from "../support/every-option.ts";
import type { Json } from "../support/json.ts";
import { arnOf, readResources } from "../support/resources.ts";
import { readTemplate } from "../support/reviewed-templates.ts";
import { shared } from "../support/shared.ts";
import { jobOf } from "../support/workflows.ts";

// Who deploys, and what they can do: the account stack, for the example repository of test/support/every-option.ts.

const assembly = shared.assembly;
const { find, only, output, statementsOf } = readResources(shared.accountAssembly, accountStackName);

const ISSUER = "token.actions.githubusercontent.com";
const names = deployedStages.map(({ name }) => name);
const roles: Json[] = find("IAM::Role").map(({ AssumeRolePolicyDocument, ...others }) => ({
  ...others,
  trust: AssumeRolePolicyDocument.Statement,
  statements: statementsOf(others.id),
}));
/** The role of the jobs for a stage. */
const roleOf = (stage: string): Json =>
  roles.find(({ id }) => output(`${pascalCase(stage)}DeployRoleArn`) === arnOf(id));

describe.each(names)("the role of GitHub's jobs for %s", (stage) => {
  const { trust, statements, ManagedPolicyArns, Policies } = roleOf(stage);

  it("is for the jobs in its environment only, with a token of GitHub for AWS", () => {
    const Federated = `arn:aws:iam::000000000000:oidc-provider/${ISSUER}`;
    // The subject names the owner and the repository by id as well (aws-actions/configure-aws-credentials#1888).
    const sub = `repo:acme@1234567/animal-store@7654321:environment:${stage}`;
    const StringEquals = { [`${ISSUER}:sub`]: sub, [`${ISSUER}:aud`]: "sts.amazonaws.com" };
    const statement = { Effect: "Allow", Action: "sts:AssumeRoleWithWebIdentity", Principal: { Federated } };
    expect(trust).toEqual([{ ...statement, Condition: { StringEquals } }]);
  });

  it("allows to deploy in the account of this stage, and reads and writes no data", () => {
    const allowed = (Action: string, Resource: string) => ({ Effect: "Allow", Action, Resource });
    const stack = `arn:aws:cloudformation:local:000000000000:stack/${stackName(stage)}/*`;
    expect(statements).toEqual([
      allowed("sts:AssumeRole", "arn:aws:iam::000000000000:role/cdk-hnb659fds-*-000000000000-local"),
      allowed("cloudformation:DescribeStacks", stack),
    ]);
    expect([ManagedPolicyArns, Policies]).toEqual([undefined, undefined]);
  });

  it("exists only in the account of the stage, with its policy and its output", () => {
    const { Conditions, Outputs } = readTemplate(shared.accountAssembly, accountStackName);
    const output = `${pascalCase(stage)}DeployRoleArn`;
    const policies = find("IAM::Policy").filter(({ Roles }) => Roles.includes(roleOf(stage).id));
    expect(policies).toHaveLength(1);
    const account = exampleSettings.repository.accounts[stage];
    for (const { Condition } of [roleOf(stage), ...policies, Outputs[output]])
      expect(Conditions[Condition]).toEqual({ "Fn::Equals": [{ Ref: "AWS::AccountId" }, account] });
  });
});

it("an account has no stage of another account, so that wrong credentials do not create it a second time", () => {
  const stacks = readdirSync(join(shared.accountAssembly, "of-staging")).flatMap(
    (file) => /^(.*)\.template\.json$/.exec(file)?.[1] ?? [],
  );
  expect(stacks.sort()).toEqual([accountStackName, stackName("staging")]);
});

// A deployment moves one function after the other to its new version. If the last one fails, all others move back.
it.each(names)(
  "the job, the session and the role of %s last as long as a deployment and its rollback",
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
    const times = {
      job: job["timeout-minutes"],
      session: Number(/"role-duration-seconds":(\d+)/.exec(text)?.[1]) / 60,
      role: roleOf(name).MaxSessionDuration / 60,
    };
    const short = Object.entries(times).filter(([, minutes]) => !(minutes >= needed));
    expect([`${canaries.length} functions need ${needed} minutes`, short]).toEqual([expect.anything(), []]);
    // AWS refuses a session that is longer than its role allows.
    expect(times.session).toBe(times.role);
    expect(times.job).toBeLessThanOrEqual(times.role);
  },
);

describe("the account", () => {
  const [log, ...others] = roles.filter((role) => !names.map(roleOf).includes(role)) as [Json];

  it("has one role for the logs of API Gateway, which no stage owns and every stage needs", () => {
    expect(only("ApiGateway::Account").CloudWatchRoleArn).toBe(arnOf(log.id));
    const [{ Action, Principal }] = log.trust;
    expect([Action, Principal]).toEqual(["sts:AssumeRole", { Service: "apigateway.amazonaws.com" }]);
    const policies = ["arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"];
    expect([log.trust.length, log.statements, log.ManagedPolicyArns]).toEqual([1, [], policies]);
    expect(others).toEqual([]); // also in an account with a personal stage, as here
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
    for (const shared of [only("ApiGateway::Account"), log]) expect(shared).toMatchObject(kept);
  });

  it("sends a message when the costs exceed the budget, or are expected to", () => {
    const { Budget, NotificationsWithSubscribers: notifications } = only("Budgets::Budget");
    const { monthlyUsd, email: Address } = exampleSettings.budget;
    expect(Budget.BudgetLimit.Amount).toBe(monthlyUsd);
    const types = notifications.map(({ Notification }: Json) => Notification.NotificationType);
    expect(types.sort()).toEqual(["ACTUAL", "FORECASTED"]);
    for (const { Subscribers, Notification } of notifications) {
      expect(Subscribers).toEqual([{ SubscriptionType: "EMAIL", Address }]);
      const { Threshold, ThresholdType = "PERCENTAGE", ComparisonOperator } = Notification;
      expect([Threshold, ThresholdType, ComparisonOperator]).toEqual([100, "PERCENTAGE", "GREATER_THAN"]);
    }
  });
});
