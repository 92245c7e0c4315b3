import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import type { Shared } from "./global-setup.ts";
import teardown from "./global-teardown.ts";

let parent: string;
let shared: Shared;
const stop = jest.fn(() => Promise.resolve(0));

/** Sets what the setup and the reporter of a run leave for the teardown. */
const setRun = (run: { shared?: Shared; testsFailed?: boolean }) => Object.assign(globalThis, run);

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "animal-store-teardown-"));
  shared = {
    folder: join(parent, "run"),
    keptLogs: join(parent, "kept"),
    service: { stop },
    store: { close: jest.fn(async () => {}) },
  };
  for (const folder of ["logs", "tmp"]) await mkdir(join(shared.folder, folder), { recursive: true });
  await writeFile(join(shared.folder, "logs", "service.log"), "");
  stop.mockClear();
  jest.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(parent, { recursive: true });
});

it("names what tests that passed left behind", async () => {
  setRun({ shared, testsFailed: false });
  await writeFile(join(shared.folder, "tmp", "left"), "");
  await expect(teardown()).rejects.toThrow(`The tests left behind:\nfile ${shared.folder}/tmp/left`);
  expect(await readdir(parent)).toEqual([]);
});

it("ends a run that failed once, with the processes of tests that --bail interrupts", async () => {
  setRun({ shared, testsFailed: true });
  const env = { ...process.env, TEST_LOGS: join(shared.folder, "logs") };
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); console.log()"], { env });
  await once(child.stdout, "data");
  const ended = once(child, "exit");
  await writeFile(join(shared.folder, "tmp", "in use"), "");
  await Promise.all([teardown(), teardown()]);
  await teardown();
  if (process.platform !== "linux") child.kill();
  expect([await ended, stop.mock.calls.length]).toEqual([[null, "SIGTERM"], 1]);
  expect(await readdir(parent, { recursive: true })).toEqual(["kept", "kept/service.log"]);
});
