/** The GitHub repository whose workflows deploy the stages. */
export interface GitHubRepository {
  owner: string;
  name: string;
  /** numbers that GitHub never assigns again: `gh api repos/OWNER/NAME --jq '.owner.id, .id'` */
  ownerId: number;
  id: number;
  /** whether this account already has an OIDC provider for GitHub; it can have only one */
  oidcProviderExists: boolean;
}

/** Undefined until someone deploys from GitHub: the stacks can then be deployed by hand only. */
export const githubRepository: GitHubRepository | undefined = undefined;
