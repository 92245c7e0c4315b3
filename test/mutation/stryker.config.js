import { fileURLToPath } from "node:url";
import { slices } from "./slices.ts";

const slice = process.env.MUTATION_SLICE ?? "lib";
const { mutate, inChildren } = slices[slice];

/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
export default {
  mutate,
  plugins: [
    fileURLToPath(new URL("node_modules/@stryker-mutator/jest-runner/dist/src/index.js", import.meta.url)),
  ],
  // Stryker rewrites tsconfig.json with an API that TypeScript 7 does not have. Node strips the types without it.
  tsconfigFile: "none",
  disableTypeChecks: false,
  testRunner: "jest",
  testRunnerNodeArgs: ["--experimental-vm-modules"],
  jest: { configFile: "test/mutation/jest.config.js", enableFindRelatedTests: false },
  coverageAnalysis: inChildren ? "off" : "perTest",
  concurrency: 2,
  // A process keeps the modules of every mutant that it has run, and gets slower.
  maxTestRunnerReuse: 30,
  // The default of 5 s counts a mutant as killed by a time-out when the machine is busy.
  timeoutMS: 20_000,
  tempDirName: "build/stryker",
  reporters: ["clear-text", "json"],
  clearTextReporter: { allowColor: false, reportTests: false, reportMutants: true, allowEmojis: false },
  jsonReporter: { fileName: `build/mutation/${slice}.json` },
};
