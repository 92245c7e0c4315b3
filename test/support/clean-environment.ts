/**
 * The environment of a child process that must not depend on the user's: only PATH. The other variable switches a mutant
 * on (docs/mutation-testing.md).
 */
export const cleanEnvironment = () => ({
  PATH: process.env.PATH,
  __STRYKER_ACTIVE_MUTANT__: process.env.__STRYKER_ACTIVE_MUTANT__,
});
