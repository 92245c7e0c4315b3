import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

// Code that reads or writes a time without a zone fails in this time zone: 00:00 UTC is on the day before.
process.env.TZ = "America/St_Johns";

// In a hook, git names the user's repository in variables, and a test would change it. AWS, proxies and shells have such
// variables, too. Tests have other working directories.
for (const name of Object.keys(process.env))
  if (/^(AWS|GIT)_|_PROXY$|^(BASH_)?ENV$/i.test(name)) delete process.env[name];
process.env.TMPDIR = resolve(tmpdir());

// Jest knows FORCE_COLOR only, and sets it in a terminal. Node warns of the others beside it.
if (process.env.NO_COLOR || process.env.NODE_DISABLE_COLORS) process.env.FORCE_COLOR = "0";

// Jest loads ES modules with an experimental feature of Node. The Node that runs npx can be older than what the tests need, so
// this runs Jest again, with the option and the Node of `npm ci`.
const option = "--experimental-vm-modules";
const patience = `--import=${new URL("test/support/patience.js", import.meta.url)}`;
if (!process.execArgv.includes(option)) {
  const launcher = fileURLToPath(new URL("tools/node.sh", import.meta.url));
  // With the channel, it ends when this process ends (test/support/patience.js).
  const jest = spawn("sh", [launcher, option, patience, ...process.argv.slice(1)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  const [status] = await once(jest, "exit");
  process.exit(status ?? 1);
}

// The feature warns in the workers and, for a single file, in this process.
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --disable-warning=ExperimentalWarning`;
const [print] = process.listeners("warning");
process.removeAllListeners("warning").on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") print?.(warning);
});

/** @type {import("jest").Config} */
const project = {
  extensionsToTreatAsEsm: [".ts"],
  roots: ["<rootDir>/test"],
  transform: { "\\.ts$": "<rootDir>/test/support/strip-types.js" },
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
  // Jest does not escape <rootDir>.
  modulePathIgnorePatterns: [
    `^${RegExp.escape(fileURLToPath(new URL("./", import.meta.url)))}(.*/)?worktrees/`,
  ],
};

/** @type {import("jest").Config} */
export default {
  projects: [
    {
      ...project,
      displayName: "unit",
      testMatch: ["**/*.test.ts"],
      testPathIgnorePatterns: ["\\.integration\\.test\\.ts$"],
    },
    {
      ...project,
      displayName: "integration",
      testMatch: ["**/*.integration.test.ts"],
      globalSetup: "<rootDir>/test/support/global-setup.ts",
      globalTeardown: "<rootDir>/test/support/global-teardown.ts",
    },
  ],
  reporters: ["default", "<rootDir>/test/support/failure-reporter.js"],
  randomize: true,
  // More workers than two cores, because many tests only wait: for time limits, restarts and other processes.
  maxWorkers: 4,
  // After many tests, a worker needs half a second to release its memory, and more on a busy machine.
  workerGracefulExitTimeout: 20_000,
  testTimeout: 120_000,
};
