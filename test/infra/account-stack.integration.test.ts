import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { accountStackName, pascalCase, stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { arnOf, readResources } from "../support/resources.ts";
import { filledIn, filledInOfProduction } from "../support/stages.ts";

// Who deploys, and what they can do: the account stack, filled in.

const { find, only, output, statementsOf } = readResources(filledIn.assembly, accountStackName);

const ISSUER = "token.actions.githubusercontent.com";
const names = deployedStages.map(({ name }) => name);
const roles = find("IAM::Role");
/** The role of the jobs for a stage. */
const roleOf = (stage: string) =>
  roles.find(({ id }) => output(`${pascalCase(stage)}DeployRoleArn`) === arnOf(id));

it.each(names)("only GitHub's jobs for %s on main get its role, whose own calls read no data", (stage) => {
  const { id, AssumeRolePolicyDocument, ManagedPolicyArns } = roleOf(stage) ?? {};
  const Federated = `arn:aws:iam::000000000000:oidc-provider/${ISSUER}`;
  // The subject names the owner and the repository by id as well (aws-actions/configure-aws-credentials#1888).
  const sub = `repo:acme@1234567/animal-store@7654321:environment:${stage}`;
  const claims = { sub, aud: "sts.amazonaws.com", ref: "refs/heads/main" };
  const StringEquals = Object.fromEntries(
    Object.entries(claims).map(([claim, value]) => [`${ISSUER}:${claim}`, value]),
  );
  const statement = { Effect: "Allow", Action: "sts:AssumeRoleWithWebIdentity", Principal: { Federated } };
  expect(AssumeRolePolicyDocument.Statement).toEqual([{ ...statement, Condition: { StringEquals } }]);
  const allowed = statementsOf(id).map(({ Action, Resource }) => `${Action} on ${Resource}`);
  const here = "local:000000000000";
  expect({ allowed, ManagedPolicyArns }).toEqual({
    allowed: [
      "sts:AssumeRole on arn:aws:iam::000000000000:role/cdk-hnb659fds-*-000000000000-local",
      `cloudformation:DescribeStacks,cloudformation:ListStackResources on arn:aws:cloudformation:${here}:stack/${stackName(stage)}/*`,
      `lambda:GetAlias,lambda:UpdateAlias on arn:aws:lambda:${here}:function:*`,
      "apigateway:DELETE on arn:aws:apigateway:local::/restapis/*/stages/*/cache/authorizers",
    ],
  });
});

it("an account has no stage of another one: wrong credentials do not create it twice", () => {
  const files = readdirSync(filledInOfProduction.assembly);
  const stacks = files.flatMap((file) => /^(.*)\.template\.json$/.exec(file)?.[1] ?? []);
  expect(stacks.sort()).toEqual([accountStackName, stackName("production")]);
});

it("the account has the one role for API Gateway's logs, which every stage needs", () => {
  const [log, ...others] = roles.filter((role) => !names.map(roleOf).includes(role));
  expect(others).toEqual([]);
  expect(only("ApiGateway::Account").CloudWatchRoleArn).toBe(arnOf(log?.id));
  for (const one of [only("ApiGateway::Account"), log])
    expect(one?.DeletionPolicy).toBe("RetainExceptOnCreate"); // other APIs use it
  const { artifacts } = JSON.parse(readFileSync(join(filledIn.assembly, "manifest.json"), "utf8"));
  for (const stack of names.map(stackName)) expect(artifacts[stack].dependencies).toContain(accountStackName);
});
