import { localStage } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { PAGE_SIZE } from "../../../lib/limits.ts";
import { PetStatus } from "../../../lib/pet.ts";
import { disconnect, type HttpRequest, send } from "../../support/http.ts";
import type { LocalService } from "../../support/local-service.ts";

const CONNECTIONS = 16;

/** The service under load. */
type Target = Pick<LocalService, "baseUrl" | "key">;

/** What a run saw. */
export class Observations {
  /** the name of every acknowledged pet, by its id */
  readonly acknowledged = new Map<number, string>();
  /** number of responses by kind and status, and of requests without a response */
  readonly counts = new Map<string, number>();
  /** when a 500, 503 or 504 came, in milliseconds since 1970 */
  readonly serverErrors: number[] = [];
  /** what must not happen, described */
  readonly wrong: string[] = [];
}

const pick = <T>(items: readonly T[]) => items[Math.floor(Math.random() * items.length)] as T;

/** A request as clients send them; half of them are lists. */
function nextRequest(name: string, ids: number[]): HttpRequest & { expected: number } {
  const status = pick(PetStatus.options);
  const add = { method: "POST", path: "/pets", body: JSON.stringify({ name, categoryId: 1, status }) };
  const filter = pick(["", `&status=${status}`]);
  const dice = Math.random();
  if (dice < 0.25 || ids.length === 0) return { ...add, expected: 201 };
  if (dice < 0.4) return { path: `/pets/${pick(ids)}`, expected: 200 };
  const limit = pick([1, PAGE_SIZE.default, PAGE_SIZE.maximum]);
  if (dice < 0.9) return { path: `/pets?limit=${limit}${filter}`, expected: 200 };
  if (dice < 0.93) return { path: "/pets?limit=0", expected: 400 };
  if (dice < 0.96) return { ...add, body: "{", expected: 400 };
  // Each unknown key is a new one, so that the authorizer runs all the time.
  return { path: "/pets", key: generateApiKey(localStage.name), expected: 401 };
}

/**
 * Keeps connections busy with mixed requests.
 *
 * @param options.prefix of the names of the pets that it creates; every name is unique
 * @param options.seen receives what it observes
 * @param options.goOn is called before every request with the number of those sent
 */
export async function load(
  { baseUrl, key }: Target,
  { prefix, seen, goOn }: { prefix: string; seen: Observations; goOn: (sent: number) => boolean },
): Promise<void> {
  const { acknowledged, counts, serverErrors, wrong } = seen;
  const ids = [...acknowledged.keys()];
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  let sent = 0;

  async function client(): Promise<void> {
    while (goOn(sent)) {
      const name = `${prefix}-${sent++}`;
      const { expected, ...request } = nextRequest(name, ids);
      const kind = `${request.method ?? "GET"} for a ${expected}`;
      try {
        const { status, text } = await send(baseUrl, { key, ...request });
        count(`${kind}: ${status}`);
        if ([500, 503, 504].includes(status)) serverErrors.push(Date.now());
        else if (status !== expected) wrong.push(`${kind}: ${request.path} ${status}`);
        if (status === 201) {
          const { id } = JSON.parse(text) as { id: number };
          if (acknowledged.has(id)) wrong.push(`the id ${id} was assigned twice`);
          acknowledged.set(id, name);
          ids.push(id);
        }
      } catch {
        count(`${kind}: without a response`);
      }
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  disconnect();
}

/** Reads the whole list, and notes acknowledged pets that are missing, and pets that are listed twice. */
export async function audit({ baseUrl, key }: Target, { acknowledged, wrong }: Observations): Promise<void> {
  const found = new Map<number, string>();
  const names = new Set<string>();
  for (let path = "/pets?limit=100"; path; ) {
    const { status, text, headers } = await send(baseUrl, { path, key });
    if (status !== 200) throw new Error(`The list responds with ${status}: ${text}`);
    for (const { id, name } of JSON.parse(text) as { id: number; name: string }[]) {
      if (found.has(id)) wrong.push(`${id} is listed twice`);
      if (names.has(name)) wrong.push(`${name} was added twice`);
      found.set(id, name);
      names.add(name);
    }
    path = /^<[^>]*\/v1([^>]*)>/.exec(headers.get("link") ?? "")?.[1] ?? "";
  }
  disconnect();
  for (const [id, name] of acknowledged) if (found.get(id) !== name) wrong.push(`${name} (${id}) is lost`);
  console.log(`the list has ${found.size} pets, ${acknowledged.size} of them acknowledged`);
}

/**
 * Prints the verdict.
 *
 * @throws Error when something was wrong
 */
export function conclude({ counts, wrong }: Observations): void {
  for (const [what, count] of [...counts].sort()) console.log(`${what}: ${count}`);
  for (const fault of wrong.slice(0, 20)) console.error(`WRONG: ${fault}`);
  if (wrong.length > 0) throw new Error(`failed: ${wrong.length}`);
  console.log("passed");
}
