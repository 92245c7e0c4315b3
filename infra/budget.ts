/** What the account may cost before AWS sends a message. */
export interface Budget {
  /** for all that is in the account, in USD a month */
  monthlyUsd: number;
  /** who gets a message when the costs of a month exceed the amount, and when they are expected to */
  email: string;
}

/** Undefined until someone can receive the messages: there is then no budget. */
export const budget: Budget | undefined = undefined;
