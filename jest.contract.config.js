import { default as base } from "./jest.config.js";

/** Only the contract suite, against a service that already runs somewhere, with few calls at once. */
export default {
  ...base,
  maxWorkers: 1,
  testMatch: ["<rootDir>/test/contract/**/*.test.ts"],
  globalSetup: undefined,
  globalTeardown: undefined,
};
