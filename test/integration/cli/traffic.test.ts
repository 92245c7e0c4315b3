import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, jest } from "@jest/globals";
import { operations } from "../../../lib/operations.ts";
import { runNode } from "../../support/keys-cli.ts";
import { listen } from "../../support/listen.ts";
import { runInProcess } from "../../support/run-in-process.ts";

const { CONTRACT_URL = "", CONTRACT_KEY = "", PATH = "" } = process.env;

/** The pauses between the rounds before and after the command, which take no time here. */
const pauses: number[] = [];
jest.unstable_mockModule("node:timers/promises", () => ({
  setTimeout: async (milliseconds: number) => void pauses.push(milliseconds),
}));
const { program } = await import("../../../cli/traffic.ts");

/** Runs a command, and rounds of requests without a pause between them. */
function traffic(url: string, command: string[], env: Record<string, string> = {}) {
  const { setInterval } = globalThis;
  jest.spyOn(globalThis, "setInterval").mockImplementation((run: () => void) => setInterval(run, 10));
  const args = ["--url", url, "--", ...command];
  return runInProcess(program, "traffic", args, { PATH, API_KEY: "ask_x", ...env });
}
const nothing = ["true"];
const waitFor = (origin: string) => [process.execPath, "--eval", `fetch("${origin}/wait")`];

afterEach(() => {
  jest.restoreAllMocks();
  pauses.length = 0;
});

/** What a server responds instead of a success: a status, 0 for no response, -1 for a lost connection. */
type Failure = (url?: string, authorization?: string) => number | undefined;

/** Serves the API, and `/wait`, which responds when there were so many requests to each operation. */
async function serve(failure: Failure = () => undefined, rounds = 2) {
  const requests: { route: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const server = createServer(async (message, response) => {
    const { method, url, headers } = message;
    const body = await text(message);
    if (url === "/wait") await enough;
    else requests.push({ route: `${method} ${url}`, headers, body });
    if (requests.length >= rounds * operations.length) resolve();
    const status = url === "/wait" ? undefined : failure(url, headers.authorization);
    if (status === -1) return void message.socket.destroy();
    const path = url?.replace(/\d+$/, "{petId}");
    const operation = operations.find((one) => one.method === method && one.path === path);
    response.statusCode = status ?? operation?.success.status ?? 404;
    if (status !== 0) response.end('{"id":7}');
  });
  return { ...(await listen(server)), requests };
}

it("sends requests to every operation while the command runs", async () => {
  const { origin, close, requests } = await serve(undefined, 60);
  const { code, stderr } = await traffic(`${origin}/`, waitFor(origin)).finally(close);
  expect(code).toBe(0);
  const counts = [...stderr.matchAll(/^(\w+): (\d+) requests, 0 failed$/gm)].map(([, ...count]) => count);
  expect(counts).toEqual(operations.map(({ id }) => [id, String(requests.length / operations.length)]));
  const routes = new Set(requests.map(({ route }) => route));
  // Before and after the run has a pet. No request deletes it.
  const ids = (method: string) => (method === "DELETE" ? ["1"] : ["1", "7"]);
  const expected = operations.flatMap(({ method, path }) =>
    ids(method).map((id) => `${method} ${path.replace("{petId}", id)}`),
  );
  expect(routes).toEqual(new Set(expected));
  // Every creation is a retry of the first one, so that a run adds one pet.
  const creations = requests.filter(({ route }) => route === "POST /pets");
  const sent = new Set(creations.map(({ headers, body }) => `${headers["idempotency-key"]} ${body}`));
  expect([...sent]).toEqual([expect.stringMatching(/^release-check .*"name":"Release check"/)]);
  // API Gateway caches the authorizer's result for each spelling for a minute, so each round of a minute has its own.
  const spellings = new Set(requests.map(({ headers }) => headers.authorization));
  expect(spellings.size).toBe(60);
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

it.each<[what: string, from: number, status: number | undefined, code: number, message: RegExp]>([
  [
    "fails, and says how to roll back, if a wrong answer repeats",
    1,
    401,
    1,
    /listPets returned 401.* stop-deployment .*While the command ran, listPets returned 401/s,
  ],
  ["tolerates lost connections", 1, -1, 0, /listPets: \d+ requests, [1-9]/],
  ["does not judge what failed before", 0, 500, 0, /^Not every operation succeeds before/m],
])("while the command runs, %s", async (_what, from, status, expected, message) => {
  const { length } = operations;
  const { origin, close, requests } = await serve(
    () => (requests.length > from * length && requests.length <= 9 * length ? status : undefined),
    12,
  );
  const { code, stderr } = await traffic(origin, waitFor(origin)).finally(close);
  expect([code, stderr]).toEqual([expected, expect.stringMatching(message)]);
});

it("reads with an earlier key as well, fails if it is refused, and gives the command no key", async () => {
  const { origin, close, requests } = await serve((_, key) => (key?.endsWith("ask_old") ? 401 : undefined));
  const command = ["sh", "-c", 'test -z "$API_KEY$EARLIER_API_KEY"'];
  const { code, stderr } = await traffic(origin, command, { EARLIER_API_KEY: "ask_old" }).finally(close);
  const message = /^listPets with the earlier key: .*\(401\)$.*^traffic: Not every operation/ms;
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  const earlier = requests.filter(({ headers }) => headers.authorization?.endsWith("ask_old"));
  const routes = new Set(earlier.map(({ route }) => route));
  expect([...routes].sort()).toEqual(["GET /pets", "GET /pets/1", "GET /pets/7"]);
});

it.each<[what: string, kind: string, failure: Failure]>([
  ["has lost the pet that was added", "404", (url) => (url === "/pets/7" ? 404 : undefined)],
  ["does not respond", "TimeoutError", () => 0],
  ["closes the connection", "[A-Z_, ]+", () => -1], // the code of the operating system or of fetch
])("fails if an operation %s three times after the command", async (_what, kind, failure) => {
  const { origin, close } = await serve(failure);
  const { timeout } = AbortSignal;
  const shorten = jest.spyOn(AbortSignal, "timeout");
  if (kind === "TimeoutError") shorten.mockImplementation(() => timeout.call(AbortSignal, 100));
  const { code, stderr } = await traffic(origin, nothing).finally(close);
  expect([code, pauses.slice(-2)]).toEqual([1, [1000, 1000]]);
  expect(stderr).toMatch(new RegExp(`^getPet: \\d+ requests, \\d+ failed \\(${kind}\\)$`, "m"));
  expect(stderr).toMatch(/\ntraffic: Not every operation succeeds after the command\.\n$/);
});

it("sends no request to an operation that was removed", async () => {
  const ends = operations.flatMap((one) => ("deprecation" in one ? one.deprecation.sunset.getTime() : []));
  jest.spyOn(Date, "now").mockReturnValue(Math.max(...ends));
  const { stderr } = await traffic(CONTRACT_URL, nothing, { API_KEY: CONTRACT_KEY });
  expect(stderr.match(/^\w+: \d+ requests, 0 failed$/gm)).toHaveLength(operations.length - ends.length);
});

it("runs no command without a key, or with an invalid URL", async () => {
  const unknown = ["/nonexistent"];
  const stderr = "traffic: Set API_KEY to an API key with both scopes.\n";
  expect(await traffic(CONTRACT_URL, unknown, { API_KEY: "" })).toEqual({ code: 1, stdout: "", stderr });
  expect(await traffic("nope", unknown)).toMatchObject({ code: 2, stdout: "" });
});
