import { Agent, request } from "node:http";

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

/** Sends one request; rejects when the connection breaks before the whole answer is there. */
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
    // The name would be looked up, and the service listens on IPv4 alone.
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
export interface Seen {
  /** the name of every animal that was acknowledged, by its id */
  acknowledged: Map<number, string>;
  /** answers by method and status, and `no answer` */
  counts: Map<string, number>;
  /** answers that must not be, described */
  wrong: string[];
}

export const emptySeen = (): Seen => ({ acknowledged: new Map(), counts: new Map(), wrong: [] });

const pick = <T>(items: readonly T[]) => items[Math.floor(Math.random() * items.length)] as T;

/** One of the requests that clients send; half of them add an animal. */
function next(name: string, ids: number[]) {
  const dice = Math.random();
  if (dice < 0.5 || ids.length === 0) {
    const body = JSON.stringify({ name, categoryId: 1, status: pick(["available", "pending", "sold"]) });
    return { kind: "POST", method: "POST", path: "/pets", body, allowed: [201] };
  }
  if (dice < 0.7) return { kind: "GET", method: "GET", path: `/pets/${pick(ids)}`, allowed: [200] };
  const limit = pick([1, 20, 100]);
  const status = pick(["", "&status=available", "&status=pending", "&status=sold"]);
  if (dice < 0.9)
    return { kind: "LIST", method: "GET", path: `/pets?limit=${limit}${status}`, allowed: [200] };
  if (dice < 0.95) return { kind: "BAD", method: "GET", path: "/pets?limit=0", allowed: [400] };
  return { kind: "BAD", method: "POST", path: "/pets", body: "{", allowed: [400] };
}

/**
 * Keeps connections busy with mixed requests.
 *
 * @param prefix of the names of the animals that it adds, each of which is given once
 * @param seen what is added to
 * @param goOn asked before every request, with the number of those sent
 */
export async function load(
  target: Target,
  connections: number,
  prefix: string,
  seen: Seen,
  goOn: (sent: number) => boolean,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { acknowledged, counts, wrong } = seen;
  const ids = [...acknowledged.keys()];
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  let sent = 0;

  async function client(): Promise<void> {
    while (goOn(sent)) {
      const name = `${prefix}-${sent++}`;
      const { kind, method, path, body, allowed } = next(name, ids);
      try {
        const reply = await send(target, agent, method, path, body);
        count(`${kind} ${reply.status}`);
        if (reply.status === 201) {
          const { id } = JSON.parse(reply.body) as { id: number };
          if (acknowledged.has(id)) wrong.push(`the id ${id} was given twice`);
          acknowledged.set(id, name);
          ids.push(id);
          // The last three are what a client may meet while a part of the service is down.
        } else if (![...allowed, 500, 503, 504].includes(reply.status)) {
          wrong.push(`${method} ${path} ${reply.status}`);
        }
      } catch {
        count(`${kind} no answer`);
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
}

/**
 * Walks the whole list and compares it with what was acknowledged.
 *
 * @returns what is wrong: an acknowledged animal that is not there, or any that is there twice
 */
export async function audit(target: Target, { acknowledged }: Seen): Promise<string[]> {
  const agent = new Agent({ keepAlive: true });
  const found = new Map<number, string>();
  const names = new Set<string>();
  const wrong: string[] = [];
  for (let path = "/pets?limit=100"; path; ) {
    const { status, body, link } = await send(target, agent, "GET", path);
    if (status !== 200) throw new Error(`The list answers ${status}: ${body}`);
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
  console.log(`walked the list: ${found.size} animals, ${acknowledged.size} of them acknowledged`);
  return wrong;
}
