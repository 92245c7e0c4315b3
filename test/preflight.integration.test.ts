import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, jest } from "@jest/globals";
import { runNode } from "./support/keys-cli.ts";
import { listen } from "./support/listen.ts";

// Without the pauses between the attempts.
jest.unstable_mockModule("node:timers/promises", () => ({ setTimeout: async () => undefined }));
const { waitUntilConsistent } = await import("./contract/preflight.ts");

const ends: (() => Promise<void>)[] = [];

/** Serves statuses in turn, to requests with a key and to those without; the last one stays. */
async function serve(withKey: number[], withoutKey: number[]) {
  const counts = { withKey: 0, withoutKey: 0 };
  const server = createServer(({ headers }, response) => {
    const kind = headers.authorization === "Bearer good" ? "withKey" : "withoutKey";
    const statuses = kind === "withKey" ? withKey : withoutKey;
    response.writeHead(statuses[counts[kind]] ?? statuses.at(-1) ?? 500).end();
    counts[kind] += 1;
  });
  const { origin: url, close } = await listen(server);
  ends.push(close);
  return { url, close, counts };
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

it("waits until the stage returns the expected responses five times in a row", async () => {
  const { url, counts } = await serve([500, 403, 200], [401, 200, 401]);
  await waitUntilConsistent(url, "good", 60);
  expect(counts.withKey).toBeGreaterThanOrEqual(2 + 5);
  expect(counts.withoutKey).toBeGreaterThanOrEqual(2 + 5);
});

it("says in one line what the stage returned instead", async () => {
  const { url } = await serve([200], [401]);
  await expect(waitUntilConsistent(url, "bad", 0)).rejects.toThrow(
    `GET ${url}/pets with the key returned 401, not 200.`,
  );
  const open = await serve([200], [200]);
  await expect(waitUntilConsistent(open.url, "good", 0)).rejects.toThrow(
    `GET ${open.url}/pets without the key returned 200, not 401.`,
  );
  const closed = await serve([], []);
  await closed.close();
  await expect(waitUntilConsistent(closed.url, "good", 0)).rejects.toThrow(
    `GET ${closed.url}/pets with the key failed: ECONNREFUSED.`,
  );
});

it("npm run test:contract reads the API key from API_KEY, because npm prints the arguments of a script", async () => {
  const script = fileURLToPath(new URL("./contract/run.ts", import.meta.url));
  const { code, stderr } = await runNode([script, "--url", "http://127.0.0.1:2/v1"], { env: {} });
  expect([code, stderr]).toEqual([2, expect.stringContaining("Set API_KEY to an API key with both scopes.")]);
});
