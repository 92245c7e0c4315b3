import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import dynalite from "dynalite";
import type { StoreAddress } from "../../emulator/store/aws-environment.ts";
import { createTables } from "../../emulator/store/create-tables.ts";
import { startStore } from "../../emulator/store/store.ts";
import { readStack } from "../../emulator/template/template.ts";
import { servedStackName } from "../../infra/stages.ts";
import { listen } from "../support/listen.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { shared } from "../support/shared.ts";

const folder = await mkdtemp(join(tmpdir(), "animal-store-keys-local-"));
process.env.DATA_DIR = folder; // local/data-folder.ts reads it once
const { program } = await import("../../cli/keys.ts");
const { makeDataFolder, formatFile, storeFolder, writeTables } = await import("../../local/data-folder.ts");

const { tables } = readStack(shared.assembly, servedStackName);
const tablesFile = join(folder, "tables.json");
const apiKeysTable = process.env.API_KEYS_TABLE ?? "";
/** The store of a service that does not run. */
const NOBODY = { endpoint: "http://127.0.0.1:1", accessKeyId: "secret", apiKeysTable };

beforeEach(() => makeDataFolder());
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const keys = (...args: string[]) => runInProcess(program, "keys", [...args, "--stage", "local"]);
const failure = (message: string) => ({ code: 1, stdout: "", stderr: `keys: ${message}\n` });

/** Creates the tables in the store of a local service. */
async function prepare(store: StoreAddress): Promise<void> {
  await createTables(store, tables);
  await writeTables({ ...store, apiKeysTable });
}

async function startServiceStore() {
  const store = await startStore(storeFolder);
  await prepare(store);
  return store;
}

async function issueAndList() {
  expect(await keys("issue", "--owner", "Acme")).toMatchObject({ code: 0, stderr: "" });
  const listed = JSON.parse((await keys("list", "--json")).stdout);
  expect(listed).toEqual([expect.objectContaining({ owner: "Acme", state: "live" })]);
}

it("says why it cannot read the data folder", async () => {
  const none = failure(`There is no local service in ${folder}: run \`npm start\` once, or set DATA_DIR.`);
  expect(await keys("list")).toEqual(none);
  execFileSync("mkfifo", [tablesFile]);
  const noFile = `The data folder ${folder} cannot be read: ${tablesFile} is not a file: delete it.`;
  expect(await keys("list")).toEqual(failure(noFile));
  await rm(tablesFile);
  for (const damaged of ['{"endpoint":', "null", '{"endpoint":""}', '{"apiKeysTable":""}']) {
    await writeFile(tablesFile, damaged);
    expect(await keys("list")).toEqual(failure(`${tablesFile} is damaged: run \`npm start\` once.`));
  }
  // Another version of the service made the folder.
  await writeTables(NOBODY);
  await rm(join(folder, formatFile));
  expect(await keys("list")).toEqual(none);
});

it("opens the store of a stopped service, makes no file that others can read, and closes it again", async () => {
  await (await startServiceStore()).close();
  await chmod(storeFolder, 0o755);
  process.umask(0o022);
  // Each command waits for the one before to close it, also for one that fails.
  expect((await keys("rotate", "key_0000000000000000")).code).toBe(1);
  await issueAndList();
  for (const name of await readdir(storeFolder, { recursive: true })) {
    const { mode } = await stat(join(storeFolder, name));
    expect([name, mode & 0o077]).toEqual([name, 0]);
  }
  await (await startStore(storeFolder)).close();
});

it("uses another DynamoDB that the service runs with", async () => {
  const { origin, close } = await listen(dynalite({ createTableMs: 0 }));
  await prepare({ endpoint: origin });
  await issueAndList();
  await close();
});

it("waits while another command has the data open", async () => {
  const service = await startServiceStore();
  await writeTables(NOBODY);
  const closed = new Promise((resolve) => setTimeout(resolve, 300)).then(service.close);
  expect(await keys("list")).toMatchObject({ code: 0 });
  await closed;
});

it("says that the data is in use if the store does not respond", async () => {
  const service = await startServiceStore();
  const { timeout } = AbortSignal;
  jest.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 100));
  let now = Date.now();
  jest.spyOn(Date, "now").mockImplementation(() => (now += 3000));
  const refuse: RequestListener = (_request, response) => void response.writeHead(404).end();
  // Another program can listen at the port where the service was.
  for (const listener of [refuse, () => undefined]) {
    const other = await listen(createServer(listener));
    await writeTables({ ...NOBODY, endpoint: other.origin });
    expect(await keys("list")).toEqual(
      failure(
        `The data folder ${storeFolder} is in use by another process, and no store responds at ${other.origin}.`,
      ),
    );
    await other.close();
  }
  await service.close();
});
