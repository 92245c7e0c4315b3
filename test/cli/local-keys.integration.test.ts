import { mkdir, mkdtemp, rm, rmdir, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import dynalite from "dynalite";
import { keysProgram } from "../../cli/keys.ts";
import type { StoreAddress } from "../../emulator/store/aws-environment.ts";
import { createTables } from "../../emulator/store/create-tables.ts";
import { startStore } from "../../emulator/store/store.ts";
import { readStack } from "../../emulator/template/template.ts";
import { servedStackName } from "../../infra/stages.ts";
import { formatFile, makeDataFolder, storeFolder, writeTables } from "../../local/data-folder.ts";
import { listen } from "../support/listen.ts";
import { failure, runHere } from "../support/run-here.ts";
import { shared } from "../support/shared.ts";

const folder = await mkdtemp(join(tmpdir(), "animal-store-keys-local-"));
const env = { DATA_DIR: folder };
const { tables } = readStack(shared.assembly, servedStackName);
const tablesFile = join(folder, "tables.json");
const apiKeysTable = process.env.API_KEYS_TABLE ?? "";
const NOBODY = { endpoint: "http://127.0.0.1:1", accessKeyId: "secret", apiKeysTable };

beforeEach(() => makeDataFolder(env));
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const keys = (...args: string[]) => runHere(keysProgram, "keys", [...args, "--stage", "local"], env);

async function prepare(store: StoreAddress): Promise<void> {
  await createTables(store, tables);
  await writeTables(env, { ...store, apiKeysTable });
}

async function startServiceStore() {
  const store = await startStore(storeFolder(env));
  await prepare(store);
  return store;
}

async function issueAndList() {
  expect(await keys("issue", "--owner", "Acme")).toMatchObject({ code: 0, stderr: "" });
  const listed = JSON.parse((await keys("list", "--json")).stdout);
  expect(listed).toEqual([expect.objectContaining({ owner: "Acme", state: "live" })]);
}

it("says why it cannot read the data folder", async () => {
  const none = failure(
    `There is no local service in ${folder}: start it with \`npm start\`, or set DATA_DIR.`,
  );
  expect(await keys("list")).toEqual(none);
  await mkdir(tablesFile);
  const noFile = `The data folder ${folder} cannot be read: EISDIR: illegal operation on a directory, read`;
  // Since Node 26, the path follows.
  expect((await keys("list")).stderr).toContain(noFile);
  await rmdir(tablesFile);
  for (const damaged of ['{"endpoint":', "null", '{"endpoint":""}', '{"apiKeysTable":""}']) {
    await writeFile(tablesFile, damaged);
    expect(await keys("list")).toEqual(failure(`${tablesFile} is damaged: start the service again.`));
  }
  // Another version of the service made the folder.
  await writeTables(env, NOBODY);
  await rm(join(folder, formatFile));
  expect(await keys("list")).toEqual(none);
});

it("manages the keys of the service that runs", async () => {
  const service = await startServiceStore();
  await issueAndList();
  await service.close();
});

it("uses another DynamoDB that the service runs with", async () => {
  const { origin, close } = await listen(dynalite({ createTableMs: 0 }));
  await prepare({ endpoint: origin });
  await issueAndList();
  await close();
});

it("says that no store responds where the service was", async () => {
  const { timeout } = AbortSignal;
  jest.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 500));
  // Another program can listen there.
  const responses = { 404: [""], 200: ["", "null", "{}", '{"TableNames":[]}'] };
  const others = Object.entries(responses).flatMap(([status, bodies]) =>
    bodies.map(
      (body): RequestListener =>
        (_, response) =>
          response.writeHead(Number(status)).end(body),
    ),
  );
  for (const listener of [...others, () => undefined]) {
    const other = await listen(createServer(listener));
    await writeTables(env, { ...NOBODY, endpoint: other.origin });
    for (const args of [["list"], ["issue", "--owner", "Acme"]]) {
      const advice = others.includes(listener) ? "Start the service with `npm start`\\." : "does not respond";
      const stderr = expect.stringMatching(new RegExp(`^keys: .*${other.origin}.*${advice}.*\n$`));
      expect(await keys(...args)).toEqual({ code: 1, stdout: "", stderr });
    }
    await other.close();
  }
});
