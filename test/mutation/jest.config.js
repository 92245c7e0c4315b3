import { fileURLToPath } from "node:url";
import { default as base } from "../../jest.config.js";
import { slices } from "./slices.ts";

const { tests } = slices[process.env.MUTATION_SLICE ?? "lib"];

/** The suites of one slice. run.ts starts the store that they use. */
export default {
  ...base,
  rootDir: fileURLToPath(new URL("../..", import.meta.url)),
  testRegex: tests.map((path) => `/test/${path}.*\\.test\\.ts$`),
  testMatch: undefined,
  globalSetup: undefined,
  globalTeardown: undefined,
  setupFilesAfterEnv: [],
  randomize: false,
};
