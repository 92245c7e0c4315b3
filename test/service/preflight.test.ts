import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "@jest/globals";
import { waitUntilConsistent } from "./contract/preflight.ts";

const servers: ReturnType<typeof createServer>[] = [];

/** Serves statuses in turn, to requests with a key and to those without; the last one stays. */
async function serve(withKey: number[], withoutKey: number[]) {
  const counts = { withKey: 0, withoutKey: 0 };
  const server = createServer(({ headers }, response) => {
    const kind = headers.authorization === "Bearer good" ? "withKey" : "withoutKey";
    const statuses = kind === "withKey" ? withKey : withoutKey;
    response.writeHead(statuses[Math.min(counts[kind], statuses.length - 1)] ?? 500).end();
    counts[kind] += 1;
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts };
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

it("waits until the stage returns the expected responses five times in a row", async () => {
  const { url, counts } = await serve([500, 403, 200], [401, 200, 401]);
  await waitUntilConsistent(url, "good");
  expect(counts.withKey).toBeGreaterThanOrEqual(2 + 5);
  expect(counts.withoutKey).toBeGreaterThanOrEqual(2 + 5);
});

it("says in one line what the stage returned instead", async () => {
  const { url } = await serve([200], [401]);
  await expect(waitUntilConsistent(url, "bad", { seconds: 0 })).rejects.toThrow(
    `GET ${url}/pets with the key returned 401, not 200.`,
  );
  const open = await serve([200], [200]);
  await expect(waitUntilConsistent(open.url, "good", { seconds: 0 })).rejects.toThrow(
    `GET ${open.url}/pets without the key returned 200, not 401.`,
  );
  const closed = await serve([], []);
  await new Promise((resolve) => servers.pop()?.close(resolve));
  await expect(waitUntilConsistent(closed.url, "good", { seconds: 0 })).rejects.toThrow(
    `GET ${closed.url}/pets with the key failed: ECONNREFUSED.`,
  );
});
