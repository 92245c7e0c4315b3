import { default as base } from "./jest.config.js";

/** The contract suite alone, against a service that already runs somewhere. */
export default {
  ...base,
  testMatch: ["<rootDir>/test/contract/**/*.test.ts"],
  globalSetup: undefined,
  globalTeardown: undefined,
};
