import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { accountStack, stackName, stages } from "../../../infra/stages.ts";
import { allows } from "../../support/iam.ts";
import { readResources } from "../../support/resources.ts";

// Who deploys, and what they can do: the account stack, for the example repository of test/support/account.ts.

const assembly = process.env.TEST_ASSEMBLY ?? "";
const { find, only, output, statementsOf } = readResources(process.env.TEST_ACCOUNT_ASSEMBLY, accountStack);

const ISSUER = "token.actions.githubusercontent.com";
const REPOSITORY = "repo:acme@1234567/animal-store@7654321";
const names = stages.map(({ name }) => name);
const deployRoles = names.map((name) => `${name}Deploy`);
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

describe("a job of GitHub", () => {
  const jobs: [subject: string, roles: string[]][] = [
    ...names.map((name): [string, string[]] => [`${REPOSITORY}:environment:${name}`, [`${name}Deploy`]]),
    [`${REPOSITORY}:pull_request`, ["Diff"]],
    [`${REPOSITORY}:ref:refs/heads/main`, []],
    [`${REPOSITORY}:ref:refs/tags/v1.0.0`, []],
    [`${REPOSITORY}:environment:github-pages`, []],
    [`${REPOSITORY}:environment:production2`, []],
    ["repo:acme/animal-store:environment:production", []], // the form without ids
    ["repo:acme@1/animal-store@7654321:environment:production", []],
    ["repo:acme@1234567/animal-store@1:environment:production", []],
    ["repo:evil@1/acme@1234567/animal-store@7654321:environment:production", []],
  ];

  it.each(jobs)(
    "with the subject %s can assume %j, and nothing with a token for others",
    (subject, expected) => {
      expect(assumableByJob(subject, "sts.amazonaws.com")).toEqual(expected);
      for (const audience of ["https://github.com/acme", undefined])
        expect(assumableByJob(subject, audience)).toEqual([]);
      expect(assumableByJob(subject, "sts.amazonaws.com", "another-provider")).toEqual([]);
    },
  );

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

describe("a role for GitHub", () => {
  const account = "000000000000";
  const role = (name: string, owner = account) => `arn:aws:iam::${owner}:role/${name}`;
  const bootstrap = (name: string) => role(`cdk-hnb659fds-${name}-role-${account}-local`);
  const own = (service: string, resource: string) => `arn:aws:${service}:local:${account}:${resource}`;
  const table = (name: string) => own("dynamodb", `table/${name}`);
  const changes = ["dynamodb:Scan", "dynamodb:PutItem", "dynamodb:UpdateItem"];

  it.each<[action: string, resource: string, roles: string[]]>([
    ["sts:AssumeRole", bootstrap("deploy"), deployRoles],
    ["sts:AssumeRole", bootstrap("file-publishing"), deployRoles],
    ["sts:AssumeRole", bootstrap("lookup"), [...deployRoles, "Diff"]],
    ["sts:AssumeRole", role("Admin"), []],
    ["sts:AssumeRole", role("animal-store-account-productionDeploy"), []],
    ["sts:AssumeRole", role(`cdk-hnb659fds-deploy-role-${account}-elsewhere`), []],
    ["sts:AssumeRole", role("cdk-hnb659fds-deploy-role-111111111111-local", "111111111111"), []],
    ...names.flatMap((name): [string, string, string[]][] => [
      [
        "cloudformation:DescribeStacks",
        own("cloudformation", `stack/${stackName(name)}/1`),
        [`${name}Deploy`],
      ],
      ...changes.map((action): [string, string, string[]] => [
        action,
        table(`${stackName(name)}-Keys1-ABC`),
        [`${name}Deploy`],
      ]),
      ["dynamodb:PutItem", table(`${stackName(name)}-Pets1-ABC`), []],
    ]),
    ["cloudformation:DescribeStacks", own("cloudformation", `stack/${accountStack}/1`), []],
  ])("%s on %s is for %j only", (action, resource, expected) => {
    const allowed = roles.filter(({ id }) => allows(statementsOf(id), { action, resource }));
    expect(allowed.map(({ name }) => name)).toEqual(expected);
  });

  it("can do nothing else: the diff role cannot write", () => {
    const actions = Object.fromEntries(
      roles.map(({ id, name }) => [
        name,
        statementsOf(id)
          .flatMap(({ Action }) => Action)
          .sort(),
      ]),
    );
    const deploy = [...changes, "cloudformation:DescribeStacks", "sts:AssumeRole"].sort();
    expect(actions).toEqual({
      ...Object.fromEntries(deployRoles.map((name) => [name, deploy])),
      Diff: ["sts:AssumeRole"],
      ApiGatewayLogs: [],
    });
    for (const { name, managed } of roles) expect(managed).toHaveLength(name === "ApiGatewayLogs" ? 1 : 0);
    for (const { Properties } of find("IAM::Role")) expect(Properties).not.toHaveProperty("Policies");
  });
});

describe("the account", () => {
  const manifest = JSON.parse(readFileSync(join(assembly, "manifest.json"), "utf8"));

  it("has one role for the logs of API Gateway, which no stage owns and every stage needs", () => {
    const [log] = roles.filter(({ name }) => name === "ApiGatewayLogs");
    expect(only("ApiGateway::Account").CloudWatchRoleArn).toMatch(new RegExp(`:${log?.id}$`));
    expect(log?.managed).toEqual([
      "arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs",
    ]);
    for (const { name } of stages) {
      expect(readResources(assembly, stackName(name)).find("ApiGateway::Account")).toEqual([]);
      expect(manifest.artifacts[stackName(name)].dependencies).toContain(accountStack);
    }
  });

  it("keeps that role when the stack is deleted, because every API of the account uses it", () => {
    const kept = [...find("ApiGateway::Account"), ...find("IAM::Role").filter(({ id }) => /Logs/.test(id))];
    expect(kept).toHaveLength(2);
    for (const resource of kept)
      expect(resource).toMatchObject({
        DeletionPolicy: "RetainExceptOnCreate",
        UpdateReplacePolicy: "Retain",
      });
  });

  it("has no deploy roles until a repository is filled in", () => {
    const unused = readResources(assembly, accountStack);
    expect(unused.find("IAM::Role")).toHaveLength(1);
    expect(unused.find("IAM::OIDCProvider")).toEqual([]);
    expect(unused.only("ApiGateway::Account")).toBeDefined();
  });
});
