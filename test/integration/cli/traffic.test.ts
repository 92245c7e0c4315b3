import { EventEmitter } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, jest } from "@jest/globals";
import type { Operation } from "../../../lib/operation.ts";
import { createPet } from "../../../lib/operations/create-pet.ts";
import * as get from "../../../lib/operations/get-pet.ts";
import { runNode } from "../../support/keys-cli.ts";
import { listen } from "../../support/listen.ts";
import { runInProcess } from "../../support/run-in-process.ts";

const { CONTRACT_URL = "", CONTRACT_KEY = "", PATH = "" } = process.env;

/** The pauses between the rounds before and after the command, which take no time here. */
const pauses: number[] = [];
jest.unstable_mockModule("node:timers/promises", () => ({
  setTimeout: async (milliseconds: number) => void pauses.push(milliseconds),
}));
/** Stands in for the command, which ends when the server of a test waits for no more requests. */
const command = jest.fn<(program: string, args: string[], options: object) => EventEmitter>();
jest.unstable_mockModule("node:child_process", () => ({ spawn: command }));
// Also operations that the API does not have yet: one that changes a pet, and one that deletes it.
const api = await import("../../../lib/operations.ts");
const { deprecation: _, ...getPet } = get.getPet;
const changePet: Operation = { ...createPet, id: "changePet", method: "PATCH", path: getPet.path };
const success = { status: 204, description: "Deleted" } as const;
const deletePet: Operation = { ...getPet, id: "deletePet", method: "DELETE", success };
const operations: Operation[] = [...api.operations, changePet, deletePet];
jest.unstable_mockModule("../../../lib/operations.ts", () => ({ ...api, operations }));
const { PAUSE_MS, program, SPELLINGS, TRIES, WRONG_ANSWERS } = await import("../../../cli/traffic.ts");

/** With and without the key, and the creation of the pet that is deleted. */
const ROUND = 2 * operations.length + 1;

afterEach(() => {
  jest.restoreAllMocks();
  pauses.length = 0;
});

/** What a server responds instead of a success: a status, 0 for no response, -1 for a lost connection. */
type Failure = (url?: string, authorization?: string, method?: string, round?: number) => number | undefined;

/**
 * Serves the API, and runs a command until there were so many rounds of requests, one after the other and without a
 * pause.
 */
async function traffic(rounds: number, failure: Failure = () => undefined, env: Record<string, string> = {}) {
  const requests: { route: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const ids = new Map<unknown, number>(); // by `Idempotency-Key`
  const deleted = new Set<string>();
  const server = createServer(async (message, response) => {
    const { method, url = "", headers } = message;
    const round = requests.push({ route: `${method} ${url}`, headers, body: await text(message) }) / ROUND;
    const status = failure(url, headers.authorization, method, round);
    if (status === -1) return void message.socket.destroy();
    const path = url.replace(/\d+$/, "{petId}");
    const operation = operations.find((one) => one.method === method && one.path === path);
    const answer = deleted.has(url) ? 404 : (operation?.success.status ?? 404);
    response.statusCode = status ?? (headers.authorization ? answer : 401);
    if (response.statusCode === success.status) deleted.add(url);
    if (operation !== createPet || response.statusCode !== operation.success.status)
      return void (status !== 0 && response.end("{}"));
    const key = headers["idempotency-key"];
    ids.set(key, ids.get(key) ?? ids.size + 7);
    response.end(`{"id":${ids.get(key)}}`);
  });
  const { origin, close } = await listen(server);
  const { fetch, setInterval } = globalThis;
  let open = 0;
  jest.spyOn(globalThis, "fetch").mockImplementation((...request) => {
    open++;
    return fetch(...request).finally(() => open--);
  });
  const deployment = new EventEmitter();
  command.mockReset().mockReturnValue(deployment);
  jest.spyOn(globalThis, "setInterval").mockImplementation((run: () => void) =>
    setInterval(() => {
      if (requests.length >= rounds * ROUND) deployment.emit("close", 0);
      else if (open === 0) run();
    }, 5),
  );
  const args = ["--url", `${origin}/`, "--", "deploy", "it"];
  const run = runInProcess(program, "traffic", args, { PATH, API_KEY: "ask_x", ...env });
  const result = await run.finally(close);
  const left = [...ids.values()].map((id) => `/pets/${id}`).filter((pet) => !deleted.has(pet));
  return { ...result, requests, left };
}

it("sends requests to every operation while the command runs, with and without the key", async () => {
  const { code, stderr, requests, left } = await traffic(SPELLINGS);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("before the command")]);
  const rounds = requests.length / ROUND;
  const names = operations.flatMap(({ id }) => [id, `${id} without a key`]);
  expect(stderr.trimEnd().split("\n")).toEqual(names.map((name) => `${name}: ${rounds} requests, 0 failed`));
  const [first] = left;
  const routes = new Set(requests.map(({ route }) => route));
  // Before and after the run has a pet. Each deletion has one of its own.
  const own = operations.filter(({ method }) => method !== "DELETE");
  const expected = ["/pets/1", first ?? ""].flatMap((pet) =>
    own.map(({ method, path }) => `${method} ${path === deletePet.path ? pet : path}`),
  );
  expect([...routes]).toEqual(expect.arrayContaining(expected));
  expect(left).toHaveLength(1);
  expect(routes).not.toContain(`DELETE ${first}`);
  expect([...routes].filter((route) => route.startsWith("DELETE "))).toHaveLength(rounds + 1);
  // All other creations are a retry of the first one, so that a run adds one pet.
  const creations = requests.filter(({ route }) => route === "POST /pets");
  const sent = creations.map(({ headers, body }) => `${headers["idempotency-key"]} ${body}`);
  const again = sent.filter((text) => /^deployment-check .*"name":"Deployment check"/.test(text));
  expect([new Set(again).size, again.length]).toEqual([1, 2 * rounds]);
  // API Gateway caches the authorizer's result for each spelling for a minute, so each round of a minute has its own.
  const spellings = new Set(requests.flatMap(({ headers }) => headers.authorization ?? []));
  expect(spellings.size).toBe(SPELLINGS);
  for (const spelling of spellings) expect(spelling).toMatch(/^Bearer +ask_x$/);
});

it("passes on what the command prints, and fails if it fails, as a process", async () => {
  const script = fileURLToPath(new URL("../../../cli/traffic.ts", import.meta.url));
  const killed = ["sh", "-c", "echo done; kill -KILL $$"]; // as by a cancelled workflow
  const env = { PATH, API_KEY: CONTRACT_KEY };
  const stderr = expect.stringMatching(/\ntraffic: sh ended with SIGKILL\.\n$/);
  const run = runNode([script, "--url", CONTRACT_URL, "--", ...killed], { env });
  expect(await run).toEqual({ code: 1, stdout: "done\n", stderr });
});

const NOT_JUDGED = "^These fail before the command.*: ";
it.each<[what: string, during: Failure, before: Failure | undefined, code: number, message: string]>([
  [
    "fails, and says how to roll back, if a wrong answer repeats",
    () => 403,
    undefined,
    1,
    "listPets returned 403.* stop-deployment .*While the command ran, listPets returned 403",
  ],
  [
    "fails if an operation needs no key any more",
    (_url, key) => (key ? undefined : 200),
    undefined,
    1,
    "While the command ran, listPets without a key returned 200, .*deletePet without a key returned 200",
  ],
  ["tolerates lost connections", () => -1, undefined, 0, "listPets: \\d+ requests, [1-9]"],
  ["does not judge what failed before", () => 500, () => 500, 0, `${NOT_JUDGED}listPets, `],
  [
    "judges the other operations if the command adds one",
    (url, key) => (url === "/pets" && key ? 401 : undefined),
    (_url, _key, method) => (method === "DELETE" ? 405 : undefined),
    1,
    `${NOT_JUDGED}deletePet, deletePet without a key\\.$.*While the command ran, listPets returned 401`,
  ],
])("while the command runs, %s", async (_what, during, before, expected, message) => {
  const { code, stderr } = await traffic(TRIES + WRONG_ANSWERS + 4, (url, key, method, round = 0) => {
    if (round > TRIES + WRONG_ANSWERS + 1) return undefined;
    const earlier = before?.(url, key, method);
    return round <= (before ? TRIES : 1) ? earlier : (during(url, key, method) ?? earlier);
  });
  expect([code, stderr]).toEqual([expected, expect.stringMatching(new RegExp(message, "ms"))]);
});

it("leaves one pet for a deletion that is not served yet", async () => {
  const { left } = await traffic(0, (_url, _key, method) => (method === "DELETE" ? 405 : undefined));
  expect(left).toHaveLength(2);
});

it("reads with an existing key as well, fails if it is refused, and gives the command no key", async () => {
  const refuse: Failure = (_url, key) => (key?.endsWith("ask_old") ? 401 : undefined);
  const { code, stderr, requests } = await traffic(0, refuse, { EXISTING_API_KEY: "ask_old" });
  const message =
    /^listPets with the existing key: .*\(401\)$.*^traffic: These fail after the command: listPets with/ms;
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  const existing = requests.filter(({ headers }) => headers.authorization?.endsWith("ask_old"));
  const routes = new Set(existing.map(({ route }) => route));
  expect([...routes].sort()).toEqual(["GET /pets", "GET /pets/1", "GET /pets/7"]);
  expect(command).toHaveBeenCalledWith("deploy", ["it"], { stdio: "inherit", env: expect.anything() });
  expect(JSON.stringify(command.mock.calls)).not.toContain("ask_");
});

it.each<[what: string, kind: string, failure: Failure]>([
  [
    "has lost the pet that was added",
    "404",
    (url, _key, method) => (method === "GET" && url !== "/pets" ? 404 : undefined),
  ],
  ["does not respond", "TimeoutError", () => 0],
  ["closes the connection", "[A-Z_, ]+", () => -1], // the code of the operating system or of fetch
])("fails if an operation %s as often as it is tried after the command", async (_what, kind, failure) => {
  const { timeout } = AbortSignal;
  const shorten = jest.spyOn(AbortSignal, "timeout");
  if (kind === "TimeoutError") shorten.mockImplementation(() => timeout.call(AbortSignal, 100));
  const { code, stderr } = await traffic(0, failure);
  expect([code, pauses.slice(1 - TRIES)]).toEqual([1, Array(TRIES - 1).fill(PAUSE_MS)]);
  expect(stderr).toMatch(new RegExp(`^getPet: \\d+ requests, \\d+ failed \\(${kind}\\)$`, "m"));
  expect(stderr).toMatch(/\ntraffic: These fail after the command: .*getPet.*\.\n$/);
});

it("sends no request to an operation that was removed", async () => {
  const ends = operations.flatMap(({ deprecation }) => deprecation?.sunset.getTime() ?? []);
  jest.spyOn(Date, "now").mockReturnValue(Math.max(...ends));
  const { stderr } = await traffic(0);
  expect(stderr.match(/^\w+: \d+ requests, 0 failed$/gm)).toHaveLength(operations.length - ends.length);
});

it("runs no command without a key, or with an invalid URL", async () => {
  const stderr = "traffic: Set API_KEY to an API key with both scopes.\n";
  expect(await traffic(0, undefined, { API_KEY: "" })).toMatchObject({ code: 1, stdout: "", stderr });
  const invalid = runInProcess(program, "traffic", ["--url", "nope", "--", "deploy"], { API_KEY: "ask_x" });
  expect(await invalid).toMatchObject({ code: 2, stdout: "" });
  expect(command).not.toHaveBeenCalled();
});
