import { EventEmitter } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, jest } from "@jest/globals";
import { SPELLINGS } from "../../cli/probe.ts";
import { API_VERSION, type Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { runNode } from "../support/keys-cli.ts";
import { listen } from "../support/listen.ts";
import { runHere } from "../support/run-here.ts";
import { shared } from "../support/shared.ts";

const { PATH = "" } = process.env;

/** The pauses between the rounds after the command, which take no time here. */
const pauses: number[] = [];
jest.unstable_mockModule("node:timers/promises", () => ({
  setTimeout: async (milliseconds: number) => void pauses.push(milliseconds),
}));
const command = jest.fn<(program: string, args: string[], options: object) => EventEmitter>();
jest.unstable_mockModule("node:child_process", () => ({ spawn: command }));
const { PAUSE_MS, trafficProgram, TRIES } = await import("../../cli/traffic.ts");

const PET = "/pets/7";
const templateOf = (route: string) => route.replace(/(\d+|\{\w+\})$/, "{id}");

afterEach(() => {
  jest.restoreAllMocks();
  pauses.length = 0;
});

/** What a server responds instead of a success: a status, 0 for no response, -1 for a lost connection. */
type Failure = (route: string, authorization?: string) => number | undefined;

interface Scenario {
  before?: Failure;
  during?: Failure;
  after?: Failure;
  rounds?: number;
  /** how long a request after the command waits for a response, in place of the limit that a busy machine needs */
  limitMs?: number;
  env?: Record<string, string>;
  args?: string[];
  hasPet?: boolean;
}

/** Serves the API, and runs a command until there were so many rounds, one after the other and without a pause. */
async function traffic({
  rounds = 0,
  limitMs,
  env,
  args = ["--", "deploy", "it"],
  hasPet = true,
  ...phases
}: Scenario = {}) {
  const requests: { route: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  let phase: keyof typeof phases = "before";
  const server = createServer(async (message, response) => {
    const { method, headers, socket } = message;
    const url = String(message.url).replace(`/${API_VERSION}`, "");
    const route = `${method} ${url}`;
    requests.push({ route, headers, body: await text(message) });
    const failure = phases[phase]?.(route, headers.authorization);
    if (failure === -1) return void socket.destroy();
    const operation = operations.find((one) => templateOf(route) === templateOf(`${one.method} ${one.path}`));
    const exists = url === PET ? hasPet : url === operation?.path;
    const found = operation && exists ? operation.success.status : 404;
    response.statusCode = failure ?? (headers.authorization ? found : 401);
    const ids = { "POST /pets": '{"id":8}', "GET /pets": hasPet ? '[{"id":7,"name":"\\"id\\":9"}]' : "[]" };
    if (failure !== 0) response.end(ids[route as keyof typeof ids] ?? '{"id":7}');
  });
  const { origin, close } = await listen(server);
  const { fetch, setInterval } = globalThis;
  const { timeout } = AbortSignal;
  jest
    .spyOn(AbortSignal, "timeout")
    .mockImplementation((ms) => timeout.call(AbortSignal, phase === "after" ? (limitMs ?? ms) : ms));
  let open = 0;
  jest.spyOn(globalThis, "fetch").mockImplementation((...request) => {
    open++;
    return fetch(...request).finally(() => open--);
  });
  const deployment = new EventEmitter();
  command.mockReset().mockImplementation(() => {
    phase = "during";
    return deployment;
  });
  let left = rounds;
  jest.spyOn(globalThis, "setInterval").mockImplementation((run: () => void) =>
    setInterval(() => {
      if (open > 0) return;
      if (left-- > 0) return run();
      phase = "after";
      deployment.emit("close", 0);
    }, 5),
  );
  const all = ["--url", `${origin}/${API_VERSION}/`, ...args];
  const run = runHere(trafficProgram, "traffic", all, { PATH, API_KEY: "ask_x", ...env });
  return { ...(await run.finally(close)), requests };
}

it("sends requests to every operation while the command runs, with and without the key", async () => {
  const { code, stderr, requests } = await traffic({ rounds: SPELLINGS });
  const names = operations.flatMap(({ id }) => [id, `${id} without a key`]);
  const report = names.map((name) => `${name}: ${SPELLINGS + 2} requests, 0 failed\n`);
  report.push('The pet of this key is 8. Remove it once, as in "An animal must go" in docs/incidents.md.\n');
  expect({ code, stderr }).toEqual({ code: 0, stderr: report.join("") });
  const routes = operations.map(({ method, path }) => templateOf(`${method} ${path}`));
  expect(new Set(requests.map(({ route }) => templateOf(route)))).toEqual(new Set(routes));
  // Every creation is a retry of the first one, so that all runs with a key add one pet.
  const creations = requests.filter(({ route }) => route === "POST /pets");
  const sent = new Set(creations.map(({ headers, body }) => `${headers["idempotency-key"]} ${body}`));
  expect([...sent]).toEqual([expect.stringMatching(/^deployment-check .*"name":"Deployment check"/)]);
  // API Gateway caches the authorizer's result for each spelling for a minute, so each round of a minute has its own.
  const spellings = new Set(requests.flatMap(({ headers }) => headers.authorization ?? []));
  expect(spellings.size).toBe(SPELLINGS);
  for (const spelling of spellings) expect(spelling).toMatch(/^Bearer +ask_x$/);
});

it.each([401, 403])("runs no command if every operation refuses the key with a %d", async (status) => {
  const before: Failure = (_route, key) => (key ? status : undefined);
  const stderr = "traffic: Every operation refuses the key in API_KEY, so the command was not run.\n";
  expect(await traffic({ before })).toMatchObject({ code: 1, stderr });
  expect(command).not.toHaveBeenCalled();
});

it("runs the command if one operation accepts the key", async () => {
  await traffic({ before: (route, key) => (key && route !== "GET /pets" ? 401 : undefined) });
  expect(command).toHaveBeenCalledTimes(1);
});

it("passes on what the command prints, and fails if it fails, as a process", async () => {
  const script = fileURLToPath(new URL("../../cli/traffic.ts", import.meta.url));
  const killed = ["sh", "-c", "echo done; kill -KILL $$"]; // as by a cancelled workflow
  const env = { PATH, API_KEY: shared.key };
  const stderr = expect.stringMatching(/\ntraffic: sh ended with SIGKILL\.\n$/);
  const run = runNode([script, "--url", shared.baseUrl, "--", ...killed], { env });
  expect(await run).toEqual({ code: 1, stdout: "done\n", stderr });
});

it("judges an operation only after the command, which can add or repair it", async () => {
  const stderr = expect.stringMatching(/^listPets: \d requests, 6 failed \(500, 403\)$/m);
  expect(await traffic({ before: () => 500, during: () => 403, rounds: 5 })).toMatchObject({
    code: 0,
    stderr,
  });
});

it("gives the command no key", async () => {
  await traffic();
  expect(command).toHaveBeenCalledWith("deploy", ["it"], { stdio: "inherit", env: expect.anything() });
  expect(JSON.stringify(command.mock.calls)).not.toContain("ask_");
});

it("says nothing about its pet in a workflow, where the pet has been removed", async () => {
  const stderr = expect.not.stringContaining("Remove");
  expect(await traffic({ env: { GITHUB_ACTIONS: "true" } })).toMatchObject({ code: 0, stderr });
});

it("asks for a pet that does not exist while there is none", async () => {
  const requests = expect.arrayContaining([expect.objectContaining({ route: "GET /pets/1" })]);
  expect(await traffic({ hasPet: false })).toMatchObject({ code: 0, requests });
});

it.each<[what: string, kind: string, failure: Failure]>([
  ["has lost a pet that was listed", "404", (route) => (route === `GET ${PET}` ? 404 : undefined)],
  ["does not respond", "TimeoutError", () => 0],
  ["closes the connection", "[A-Z_, ]+", () => -1], // the code of the operating system or of fetch
])("fails if an operation %s as often as it is tried after the command", async (_what, kind, after) => {
  const { code, stderr } = await traffic({ after, ...(kind === "TimeoutError" && { limitMs: 100 }) });
  expect(code).toBe(1);
  expect(pauses.slice(1 - TRIES)).toEqual(Array(TRIES - 1).fill(PAUSE_MS));
  expect(stderr).toMatch(new RegExp(`^getPet: \\d+ requests, \\d+ failed \\(${kind}\\)$`, "m"));
  expect(stderr).toMatch(/\ntraffic: These fail after the command: .*getPet.*\.\n$/);
});

it("sends no request to an operation that was removed", async () => {
  const ends = operations.flatMap(({ deprecation }: Operation) => deprecation?.sunset.getTime() ?? []);
  jest.spyOn(Date, "now").mockReturnValue(Math.max(...ends));
  const { stderr } = await traffic();
  expect(stderr.match(/^\w+: \d+ requests, 0 failed$/gm)).toHaveLength(operations.length - ends.length);
});

it("runs no command without a key, or with an invalid URL", async () => {
  const stderr = expect.stringContaining("Set API_KEY to an API key with both scopes.\n");
  expect(await traffic({ env: { API_KEY: "" } })).toMatchObject({ code: 2, stdout: "", stderr });
  const invalid = runHere(trafficProgram, "traffic", ["--url", "nope", "--", "deploy"], { API_KEY: "ask_x" });
  expect(await invalid).toMatchObject({ code: 2, stdout: "" });
  expect(command).not.toHaveBeenCalled();
});
