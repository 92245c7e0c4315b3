import { CfnCondition, CfnOutput, Fn, RemovalPolicy, Stack } from "aws-cdk-lib";
import { CfnAccount } from "aws-cdk-lib/aws-apigateway";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import {
  type CfnRole,
  ManagedPolicy,
  PolicyDocument,
  PolicyStatement,
  Role,
  ServicePrincipal,
  WebIdentityPrincipal,
} from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import type { AccountSettings, GitHubRepository, MonthlyBudget } from "./account-settings.ts";
import { acknowledge } from "./acknowledge.ts";
import { DEPLOYED_BRANCH, pascalCase, stackName } from "./names.ts";
import type { Stage } from "./stages.ts";

const ISSUER = "token.actions.githubusercontent.com";

/**
 * What the stages share in an account and region: the role with which API Gateway writes logs, the budget, and the roles
 * with which GitHub's workflows deploy. The workflows do not deploy it, because it decides what they are allowed to do.
 */
export class AccountStack extends Stack {
  constructor(scope: Construct, id: string, stages: readonly Stage[], settings: AccountSettings) {
    const { githubRepository, budget } = settings;
    super(scope, id, {
      description: "The Animal Store: what its stages share in an account",
      tags: { service: "animal-store" },
    });
    this.#addLogRole();
    if (budget) this.#addBudget(budget);
    if (githubRepository) this.#addGitHubRoles(githubRepository, stages);
  }

  /** Reports what the whole account costs. AWS Budgets is some hours late. */
  #addBudget({ monthlyUsd, email }: MonthlyBudget): void {
    const budgetLimit = { amount: monthlyUsd, unit: "USD" };
    const subscribers = [{ subscriptionType: "EMAIL", address: email }];
    // AWS makes up its name: a new address makes a new budget, and a name can be in use only once.
    new CfnBudget(this, "Budget", {
      budget: { budgetType: "COST", timeUnit: "MONTHLY", budgetLimit },
      notificationsWithSubscribers: ["ACTUAL", "FORECASTED"].map((notificationType) => ({
        notification: { notificationType, comparisonOperator: "GREATER_THAN", threshold: 100 },
        subscribers,
      })),
    });
  }

  /**
   * Sets the role with which API Gateway writes logs. All APIs of an account and region share the role, so it stays
   * when this stack is deleted.
   */
  #addLogRole(): void {
    const policy = "service-role/AmazonAPIGatewayPushToCloudWatchLogs";
    const role = new Role(this, "ApiGatewayLogs", {
      assumedBy: new ServicePrincipal("apigateway.amazonaws.com"),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(policy)],
    });
    const account = new CfnAccount(this, "ApiGatewayAccount", { cloudWatchRoleArn: role.roleArn });
    for (const one of [role, account]) one.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    acknowledge(
      role,
      `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`,
      "API Gateway documents this policy for the one role with which an account's APIs write their logs.",
    );
  }

  #addGitHubRoles(repository: GitHubRepository, stages: readonly Stage[]): void {
    for (const { name } of stages) {
      const account = repository.accounts[name];
      if (!account)
        throw new Error(`The accounts in infra/account-settings.ts have none for the stage ${name}.`);
      const role = this.#addDeployRole(name, repository);
      const output = new CfnOutput(this, `${pascalCase(name)}DeployRoleArn`, { value: role.roleArn });
      // This stack is in the account of each stage, and a role only in the account of its stage.
      const expression = Fn.conditionEquals(this.account, account);
      const id = `IsAccount${account}`; // stages can share an account
      const existing = this.node.tryFindChild(id) as CfnCondition | undefined;
      const condition = existing ?? new CfnCondition(this, id, { expression });
      output.condition = condition;
      (role.node.defaultChild as CfnRole).cfnOptions.condition = condition;
    }
  }

  /**
   * Adds a role that only the repository's jobs in one environment and on one branch can assume. The subject has the form of
   * repositories created, renamed or transferred since 15 July 2026, which names the owner and the repository by id as well.
   * The branch counts too, because a job in any branch can name an environment that nobody has restricted.
   */
  #addDeployRole(environment: string, repository: GitHubRepository): Role {
    const { owner, ownerId, id } = repository;
    // The provider is in all regions of the account, and others can use it: docs/deployment.md creates it.
    const provider = `arn:${this.partition}:iam::${this.account}:oidc-provider/${ISSUER}`;
    const calls = new PolicyDocument();
    const role = new Role(this, `${pascalCase(environment)}Deploy`, {
      inlinePolicies: { calls },
      assumedBy: new WebIdentityPrincipal(provider, {
        StringEquals: {
          [`${ISSUER}:aud`]: "sts.amazonaws.com",
          [`${ISSUER}:ref`]: `refs/heads/${DEPLOYED_BRANCH}`,
          [`${ISSUER}:sub`]: `repo:${owner}@${ownerId}/${repository.name}@${id}:environment:${environment}`,
        },
      }),
    });
    /** @param arn what is after the partition, with pseudo parameters as cdk-nag writes them, such as `<AWS::Region>` */
    const allow = (actions: string[], arn: string) => {
      const finding = `arn:<AWS::Partition>:${arn}`;
      const resource = finding.replaceAll(/<(.+?)>/g, (_, name: string) => Fn.ref(name));
      calls.addStatements(new PolicyStatement({ actions, resources: [resource] }));
      acknowledge(role, `IAM5[Resource::${finding}]`, "AWS and the bootstrap choose parts of these names.");
    };
    // `cdk deploy` assumes the roles that `cdk bootstrap` has created, which reach their whole account.
    const here = "<AWS::Region>:<AWS::AccountId>";
    allow(["sts:AssumeRole"], "iam::<AWS::AccountId>:role/cdk-hnb659fds-*-<AWS::AccountId>-<AWS::Region>");
    // The job reads the outputs and the versions of the stack, and rolls back (tools/deploy.sh). CloudFormation shortens
    // the name of the stack in a long name of a function, so no name of a function is sure to begin with it.
    const reads = ["cloudformation:DescribeStacks", "cloudformation:ListStackResources"];
    allow(reads, `cloudformation:${here}:stack/${stackName(environment)}/*`);
    allow(["lambda:GetAlias", "lambda:UpdateAlias"], `lambda:${here}:function:*`);
    allow(["apigateway:DELETE"], "apigateway:<AWS::Region>::/restapis/*/stages/*/cache/authorizers");
    return role;
  }
}
