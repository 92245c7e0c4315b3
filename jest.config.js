/** @type {import("jest").Config} */
export default {
  extensionsToTreatAsEsm: [".ts"],
  transform: { "\\.ts$": "<rootDir>/test/support/strip-types.js" },
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  setupFilesAfterEnv: ["<rootDir>/test/support/write-coverage.ts"],
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  reporters: ["default", "<rootDir>/test/support/failure-reporter.js"],
  randomize: true,
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
  // Two cores run the local service as well as the tests.
  maxWorkers: 2,
  testTimeout: 120_000,
};
