import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { accountStackName, pascalCase, stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import type { Json } from "../support/json.ts";
import { arnOf, readResources } from "../support/resources.ts";
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

  it("deploys, and reads and writes no data: the deployment sends its requests with an API key", () => {
    const actions = statements.flatMap(({ Action }: Json) => Action).sort();
    expect({ actions, ManagedPolicyArns, Policies }).toEqual({
      actions: ["cloudformation:DescribeStacks", "sts:AssumeRole"],
    });
  });
});

it("an account has no stage of another one: wrong credentials do not create it twice", () => {
  const stacks = readdirSync(join(shared.accountAssembly, "of-staging")).flatMap(
    (file) => /^(.*)\.template\.json$/.exec(file)?.[1] ?? [],
  );
  expect(stacks.sort()).toEqual([accountStackName, stackName("staging")]);
});

// A deployment moves one function after the other to its new version. If the last one fails, all others move back.
it.each(names)("the role of %s lasts as long as a deployment and its rollback", (name) => {
  const { find } = readResources(assembly, stackName(name));
  const canaries = find("CodeDeploy::DeploymentGroup").map(({ DeploymentConfigName }) =>
    Number(/(\d+)Minutes$/.exec(DeploymentConfigName)?.[1]),
  );
  // With what CodeDeploy and CloudFormation take for each, and the other steps of the job.
  const each = Math.max(0, ...canaries) + 0.5;
  const job = jobOf(name);
  const session = Number(/"role-duration-seconds":(\d+)/.exec(JSON.stringify(job.steps))?.[1]) / 60;
  const needed = 10 + (2 * canaries.length - 1) * each;
  const minutes = { job: job["timeout-minutes"], session, role: roleOf(name).MaxSessionDuration / 60 };
  const short = Object.entries(minutes).filter(([, time]) => !(time >= needed));
  expect({ needed, short }).toEqual({ needed, short: [] });
  // AWS refuses a session that is longer than its role allows.
  expect(minutes).toMatchObject({ session: minutes.role });
  expect(minutes.job).toBeLessThanOrEqual(minutes.role);
});

describe("the account", () => {
  const [log, ...others] = roles.filter((role) => !names.map(roleOf).includes(role)) as [Json];

  it("has the one role for API Gateway's logs, which no stage owns and every stage needs", () => {
    expect(only("ApiGateway::Account").CloudWatchRoleArn).toBe(arnOf(log.id));
    expect(others).toEqual([]); // also in an account with a personal stage, as here
    const { artifacts } = JSON.parse(readFileSync(join(assembly, "manifest.json"), "utf8"));
    for (const stack of names.map(stackName)) {
      expect(readResources(assembly, stack).find("ApiGateway::Account")).toEqual([]);
      expect(artifacts[stack].dependencies).toContain(accountStackName);
    }
  });
});
