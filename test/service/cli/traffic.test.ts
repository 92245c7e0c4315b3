import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { operations } from "../../../lib/operations.ts";
import { runNode } from "../../support/keys-cli.ts";
import { listen } from "../../support/listen.ts";

const script = fileURLToPath(new URL("../../../cli/traffic.ts", import.meta.url));
const { CONTRACT_URL = "", CONTRACT_KEY = "" } = process.env;

/** Runs a script of Node as the command. */
const traffic = (url: string, code: string, key = "ask_x") =>
  runNode([script, "--url", url, "--", process.execPath, "--eval", code], {
    env: { PATH: process.env.PATH, API_KEY: key },
  });

/** Serves the API unless `fails`, and `/wait`, which responds when there were two requests to each operation. */
async function serve(fails: () => boolean = () => false) {
  const requests: { route: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const server = createServer(async (message, response) => {
    const { method, url, headers } = message;
    const body = await text(message);
    if (url === "/wait") await enough;
    else requests.push({ route: `${method} ${url}`, headers, body });
    if (requests.length >= 2 * operations.length) resolve();
    response.statusCode = fails() && url !== "/wait" ? 503 : method === "POST" ? 201 : 200;
    response.end('{"id":7}');
  });
  return { ...(await listen(server)), requests };
}

it("sends requests to every operation while the command runs, without giving it the key", async () => {
  const { origin, close, requests } = await serve();
  const code = `await fetch("${origin}/wait"); process.exit(process.env.API_KEY ? 2 : 0)`;
  const { code: exit, stderr } = await traffic(`${origin}/`, code).finally(close);
  expect([exit, stderr]).toEqual([0, expect.stringMatching(/^(\w+: \d+ requests, 0 failed\n){3}$/)]);
  const routes = new Set(requests.map(({ route }) => route));
  expect([...routes].sort()).toEqual(["GET /pets", "GET /pets/1", "GET /pets/7", "POST /pets"]);
  // Each round asks the authorizer, because API Gateway caches its result for each spelling.
  const spellings = new Set(requests.map(({ headers }) => headers.authorization));
  expect(spellings.size).toBe(requests.length / operations.length);
  for (const spelling of spellings) expect(spelling).toMatch(/^Bearer +ask_x$/);
});

it("adds one pet, because every creation is a retry of the first one", async () => {
  const { origin, close, requests } = await serve();
  await traffic(origin, `await fetch("${origin}/wait")`).finally(close);
  const creations = requests.filter(({ route }) => route.startsWith("POST"));
  const sent = new Set(creations.map(({ headers, body }) => `${headers["idempotency-key"]} ${body}`));
  expect([...sent]).toEqual(['release-check {"name":"Release check","categoryId":0,"status":"sold"}']);
  const { code, stderr } = await traffic(CONTRACT_URL, "", CONTRACT_KEY);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^(\w+: \d+ requests, 0 failed\n){3}$/)]);
});

it("fails if the command fails, or an operation after it", async () => {
  const ends = [
    ["process.exit(3)", "3"],
    ['process.kill(process.pid, "SIGKILL")', "SIGKILL"], // as by a cancelled workflow
  ];
  for (const [command = "", end] of ends)
    expect(await traffic(CONTRACT_URL, command, CONTRACT_KEY)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`traffic: ${process.execPath} ended with ${end}.`),
    });
  const { origin, close, requests } = await serve(() => requests.length > operations.length);
  const { code, stderr } = await traffic(origin, "").finally(close);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^getPet: (\d+) requests, \d+ failed \(503\)$/m)]);
  expect(stderr).toMatch(/\ntraffic: Not every operation succeeds after the command\.\n$/);
});

it("needs a key", async () => {
  const stderr = "traffic: Set API_KEY to an API key with both scopes.\n";
  expect(await traffic(CONTRACT_URL, "", "")).toMatchObject({ code: 1, stderr });
});
