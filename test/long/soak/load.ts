import { Agent, request } from "node:http";
import { local } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";

/** The service under load. */
export interface Target {
  baseUrl: string;
  key: string;
}

export interface Reply {
  status: number;
  link: string;
  body: string;
}

/** Sends one request; rejects when the connection breaks before the response is complete. */
export function send(
  { baseUrl, key }: Target,
  agent: Agent,
  method: string,
  path: string,
  body?: string,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(body),
      }),
    };
    // The service listens on IPv4 only, and "localhost" needs a lookup.
    const url = baseUrl.replace("localhost", "127.0.0.1") + path;
    const sent = request(url, { method, agent, headers }, (message) => {
      let text = "";
      message.setEncoding("utf8");
      message.on("data", (chunk) => {
        text += chunk;
      });
      message.on("error", reject);
      message.on("end", () =>
        resolve({ status: message.statusCode ?? 0, link: String(message.headers.link ?? ""), body: text }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What a load saw. */
export interface Observations {
  /** the name of every acknowledged pet, by its id */
  acknowledged: Map<number, string>;
  /** number of responses by kind and status, and of requests without a response */
  counts: Map<string, number>;
  /** when a 500, 503 or 504 came, in milliseconds since 1970 */
  serverErrors: number[];
  /** unexpected responses, described */
  wrong: string[];
}

export const noObservations = (): Observations => ({
  acknowledged: new Map(),
  counts: new Map(),
  serverErrors: [],
  wrong: [],
});

const pick = <T>(items: readonly T[]) => items[Math.floor(Math.random() * items.length)] as T;

/** A request as clients send them; half of them are lists. */
function nextRequest(name: string, ids: number[]) {
  const dice = Math.random();
  if (dice < 0.25 || ids.length === 0) {
    const body = JSON.stringify({ name, categoryId: 1, status: pick(["available", "pending", "sold"]) });
    return { kind: "POST", method: "POST", path: "/pets", body, expected: 201 };
  }
  if (dice < 0.4) return { kind: "GET", method: "GET", path: `/pets/${pick(ids)}`, expected: 200 };
  if (dice < 0.9) {
    const limit = pick([1, 20, 100]);
    const status = pick(["", "&status=available", "&status=pending", "&status=sold"]);
    return { kind: "LIST", method: "GET", path: `/pets?limit=${limit}${status}`, expected: 200 };
  }
  if (dice < 0.93) return { kind: "BAD", method: "GET", path: "/pets?limit=0", expected: 400 };
  if (dice < 0.96) return { kind: "BAD", method: "POST", path: "/pets", body: "{", expected: 400 };
  // Each unknown key is a new one, so that the authorizer runs all the time.
  return { kind: "KEY", method: "GET", path: "/pets", key: generateApiKey(local.name), expected: 401 };
}

/**
 * Keeps connections busy with mixed requests.
 *
 * @param options.prefix of the names of the pets that it creates; every name is unique
 * @param options.seen receives what it observes
 * @param options.goOn is called before every request with the number of those sent
 */
export async function load(
  target: Target,
  options: { connections: number; prefix: string; seen: Observations; goOn: (sent: number) => boolean },
): Promise<void> {
  const { connections, prefix, seen, goOn } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { acknowledged, counts, serverErrors, wrong } = seen;
  const ids = [...acknowledged.keys()];
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  let sent = 0;

  async function client(): Promise<void> {
    while (goOn(sent)) {
      const name = `${prefix}-${sent++}`;
      const { kind, method, path, key = target.key, body, expected } = nextRequest(name, ids);
      try {
        const reply = await send({ ...target, key }, agent, method, path, body);
        count(`${kind} ${reply.status}`);
        if ([500, 503, 504].includes(reply.status)) serverErrors.push(Date.now());
        else if (reply.status !== expected) wrong.push(`${method} ${path} ${reply.status}`);
        if (reply.status === 201) {
          const { id } = JSON.parse(reply.body) as { id: number };
          if (acknowledged.has(id)) wrong.push(`the id ${id} was assigned twice`);
          acknowledged.set(id, name);
          ids.push(id);
        }
      } catch {
        count(`${kind} without a response`);
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
}

/**
 * Reads the whole list and compares it with the acknowledged pets.
 *
 * @returns what is wrong: an acknowledged pet that is missing, or a pet that is listed twice
 */
export async function audit(target: Target, { acknowledged }: Observations): Promise<string[]> {
  const agent = new Agent({ keepAlive: true });
  const found = new Map<number, string>();
  const names = new Set<string>();
  const wrong: string[] = [];
  for (let path = "/pets?limit=100"; path; ) {
    const { status, body, link } = await send(target, agent, "GET", path);
    if (status !== 200) throw new Error(`The list responds with ${status}: ${body}`);
    for (const { id, name } of JSON.parse(body) as { id: number; name: string }[]) {
      if (found.has(id)) wrong.push(`${id} is listed twice`);
      if (names.has(name)) wrong.push(`${name} was added twice`);
      found.set(id, name);
      names.add(name);
    }
    path = /^<[^>]*\/v1([^>]*)>/.exec(link)?.[1] ?? "";
  }
  agent.destroy();
  for (const [id, name] of acknowledged) if (found.get(id) !== name) wrong.push(`${name} (${id}) is lost`);
  console.log(`the list has ${found.size} pets, ${acknowledged.size} of them acknowledged`);
  return wrong;
}
