/** The GitHub repository whose workflows deploy the stages. */
export interface GitHubRepository {
  owner: string;
  name: string;
  /** numbers that GitHub never assigns again: `gh api repos/{owner}/{repo} --jq '.owner.id, .id'` */
  ownerId: number;
  id: number;
  /**
   * the id of each stage's account, by the name of the stage: with credentials of another account, `cdk` does not know the
   * stage. docs/deployment.md says why they should differ
   */
  accounts: Record<string, string>;
}

/** What the account may cost before AWS sends a message. */
export interface MonthlyBudget {
  /** for all that is in the account, in USD a month */
  monthlyUsd: number;
  /** who gets a message when the costs of a month exceed the amount, and when they are expected to */
  email: string;
}

export interface AccountSettings {
  /** without it, the stacks can be deployed by hand only */
  githubRepository?: GitHubRepository;
  /** without it, nobody gets a message about the costs */
  budget?: MonthlyBudget;
}

/** What someone fills in for the account. */
export const accountSettings: AccountSettings = {};
