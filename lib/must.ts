/**
 * The one form of validation messages: what a field must be, never what it was.
 *
 * @param what the rule, in words that follow "must"
 * @returns zod's error parameter
 */
export function must(what: string) {
  return {
    error: (issue: { input?: unknown }) =>
      issue.input === undefined ? `is required and must ${what}` : `must ${what}`,
  };
}
