import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { operations } from "../../../lib/operations.ts";
import { runNode } from "../../support/keys-cli.ts";
import { listen } from "../../support/listen.ts";
import { preload } from "../../support/preload.ts";

const script = fileURLToPath(new URL("../../../cli/traffic.ts", import.meta.url));
const { CONTRACT_URL = "", CONTRACT_KEY = "" } = process.env;

/** Runs a script of Node as the command. Another script can change the program's clock and timers first. */
const traffic = (url: string, code: string, key = "ask_x", before = "", earlierKey = "") =>
  runNode([preload(before), script, "--url", url, "--", process.execPath, "--eval", code], {
    env: { PATH: process.env.PATH, API_KEY: key, EARLIER_API_KEY: earlierKey },
  });

/** Sends rounds without a pause between them. */
const fastRounds =
  "const { setInterval } = globalThis; globalThis.setInterval = (run) => setInterval(run, 10)";

/** Prints the pauses instead of waiting. */
const fast = `import timers from "node:timers/promises";
  import { syncBuiltinESMExports } from "node:module";
  timers.setTimeout = async (ms) => console.error("pause of " + ms);
  syncBuiltinESMExports();`;

/** What a server responds instead of a success: a status, 0 for no response, -1 for a lost connection. */
type Failure = (url?: string, authorization?: string) => number | undefined;

/**
 * Serves the API, and `/wait`, which responds when there were so many requests to each operation.
 */
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

it("sends requests to every operation while the command runs, without giving it the key", async () => {
  const { origin, close, requests } = await serve(undefined, 60);
  const code = `await fetch("${origin}/wait"); console.log("done"); process.exit(process.env.API_KEY ? 2 : 0)`;
  const {
    code: exit,
    stdout,
    stderr,
  } = await traffic(`${origin}/`, code, undefined, fastRounds).finally(close);
  expect([exit, stdout]).toEqual([0, "done\n"]);
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

it("fails if the command fails", async () => {
  const killed = 'process.kill(process.pid, "SIGKILL")'; // as by a cancelled workflow
  const stderr = expect.stringContaining(`traffic: ${process.execPath} ended with SIGKILL.`);
  expect(await traffic(CONTRACT_URL, killed, CONTRACT_KEY)).toMatchObject({ code: 1, stderr });
});

describe("while the command runs", () => {
  const { length } = operations;

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
  ])("%s", async (_what, from, status, expected, message) => {
    const { origin, close, requests } = await serve(
      () => (requests.length > from * length && requests.length <= 9 * length ? status : undefined),
      12,
    );
    const run = traffic(origin, `await fetch("${origin}/wait")`, "ask_x", fast + fastRounds);
    const { code, stderr } = await run.finally(close);
    expect([code, stderr]).toEqual([expected, expect.stringMatching(message)]);
  });

  it("reads with a key that was issued before the release as well, and fails if it is refused", async () => {
    const { origin, close, requests } = await serve((_, key) => (key?.endsWith("ask_old") ? 401 : undefined));
    const run = traffic(
      origin,
      "process.exit(process.env.EARLIER_API_KEY ? 2 : 0)",
      "ask_x",
      fast,
      "ask_old",
    );
    const { code, stderr } = await run.finally(close);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^listPets with the earlier key: .*\(401\)$/m)]);
    const earlier = requests.filter(({ headers }) => headers.authorization?.endsWith("ask_old"));
    const routes = new Set(earlier.map(({ route }) => route));
    expect([...routes].sort()).toEqual(["GET /pets", "GET /pets/1", "GET /pets/7"]);
  });
});

describe("after the command", () => {
  /** Shortens the limit of a request, which is right if the test ends. */
  const short =
    "const { timeout } = AbortSignal; AbortSignal.timeout = () => timeout.call(AbortSignal, 100);";

  it.each<[what: string, kind: string, failure: Failure]>([
    ["has lost the pet that was added", "404", (url) => (url === "/pets/7" ? 404 : undefined)],
    ["does not respond", "TimeoutError", () => 0],
    ["closes the connection", "[A-Z_, ]+", () => -1], // the code of the operating system or of fetch
  ])("fails if an operation %s three times, and says so", async (_what, kind, failure) => {
    const { origin, close } = await serve(failure);
    const before = fast + (kind === "TimeoutError" ? short : "");
    const { code, stderr } = await traffic(origin, "", "ask_x", before).finally(close);
    expect(code).toBe(1);
    expect(stderr).toMatch(/(pause of 1000\n){2}listPets: /);
    expect(stderr).toMatch(new RegExp(`^getPet: \\d+ requests, \\d+ failed \\(${kind}\\)$`, "m"));
    expect(stderr).toMatch(/\ntraffic: Not every operation succeeds after the command\.\n$/);
  });

  it("sends no request to an operation that was removed", async () => {
    const ends = operations.flatMap((one) => ("deprecation" in one ? one.deprecation.sunset.getTime() : []));
    const { stderr } = await traffic(CONTRACT_URL, "", CONTRACT_KEY, `Date.now = () => ${Math.max(...ends)}`);
    expect(stderr.match(/^\w+: \d+ requests, 0 failed$/gm)).toHaveLength(operations.length - ends.length);
  });
});

it("runs no command without a key, or with an invalid URL", async () => {
  const [stderr, run] = ["traffic: Set API_KEY to an API key with both scopes.\n", 'console.log("ran")'];
  expect(await traffic(CONTRACT_URL, run, "")).toEqual({ code: 1, stdout: "", stderr });
  expect(await traffic("nope", run)).toMatchObject({ code: 2, stdout: "" });
});
