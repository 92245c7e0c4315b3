import { Agent, request } from "node:http";
import fc from "fast-check";
import { errors } from "../../../lib/errors.ts";
import { type FuzzRequest, requests } from "./requests.ts";

/** Every header that the service, its gateway and HTTP itself define. */
const HEADERS = new Set([
  "allow",
  "cache-control",
  "connection",
  "content-length",
  "content-type",
  "date",
  "deprecation",
  "keep-alive",
  "link",
  "retry-after",
  "sunset",
  "www-authenticate",
  "x-amzn-requestid",
]);
const TIMEOUT_MS = 10_000;
const CONNECTIONS = 24;

interface FuzzResponse {
  status: number;
  headers: [name: string, value: string][];
  body: string;
}

function sendRequest(port: number, agent: Agent, sent: FuzzRequest): Promise<FuzzResponse> {
  const headers = [
    ["Host", "127.0.0.1"],
    ["Content-Length", String(sent.body.length)],
    ...sent.headers,
  ].flat();
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, agent, method: sent.method, path: sent.path, headers };
    const outgoing = request({ ...options, timeout: TIMEOUT_MS }, (message) => {
      let body = "";
      message.setEncoding("utf8");
      message.on("data", (chunk) => {
        body += chunk;
      });
      message.on("error", reject);
      message.on("end", () => {
        const { rawHeaders, statusCode = 0 } = message;
        const pairs = rawHeaders.flatMap((name, index): [string, string][] =>
          index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ""]] : [],
        );
        resolve({ status: statusCode, headers: pairs, body });
      });
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)));
    outgoing.on("error", reject);
    outgoing.end(sent.body);
  });
}

/** What is wrong with a response, if anything. */
function faultOf({ status, headers, body }: FuzzResponse, method: string): string | undefined {
  if (status >= 500) return `status ${status}`;
  const names = headers.map(([name]) => name);
  const unknown = names.find((name) => !HEADERS.has(name));
  if (unknown) return `the header ${unknown}`;
  if (new Set(names).size < names.length) return "a repeated header";
  if (!headers.some(([name, value]) => name === "content-type" && value === "application/json"))
    return "another type than JSON";
  if (method === "HEAD") return undefined;
  const content = JSON.parse(body);
  if (status < 400) return undefined;
  const { code, message, status: repeated } = content;
  if (Object.keys(content).sort().join() !== "code,message,status") return `the members of ${body}`;
  if (repeated !== status || errors[code as keyof typeof errors]?.status !== status || !message)
    return `the values of ${body}`;
  return undefined;
}

export interface FuzzResult {
  /** number of requests */
  sent: number;
  /** number of responses by status */
  counts: Map<number, number>;
  /** what is wrong, with the request that caused it; ten at most */
  failures: string[];
}

/**
 * Sends requests to a service and checks every response.
 *
 * @param options.seed determines the requests
 * @param options.count number of requests
 * @param options.until when to stop at the latest, in milliseconds since 1970
 */
export async function fuzz(
  { baseUrl, key }: { baseUrl: string; key: string },
  { seed, count, until = Number.POSITIVE_INFINITY }: { seed: number; count: number; until?: number },
): Promise<FuzzResult> {
  const port = Number(new URL(baseUrl).port);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const result: FuzzResult = { sent: 0, counts: new Map(), failures: [] };
  const { counts, failures } = result;

  async function check(input: FuzzRequest): Promise<string | undefined> {
    try {
      const response = await sendRequest(port, agent, input);
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
      return faultOf(response, input.method);
    } catch (error) {
      return (error as Error).message;
    }
  }

  const BATCH = 500;
  for (let batch = seed; result.sent < count && failures.length < 10 && Date.now() < until; batch++) {
    const queue = fc.sample(requests(key), { seed: batch, numRuns: Math.min(BATCH, count - result.sent) });
    const client = async () => {
      for (let input = queue.pop(); input && failures.length < 10; input = queue.pop()) {
        const fault = await check(input);
        result.sent++;
        const { body, ...head } = input;
        const text = JSON.stringify({ ...head, body: body.toString("latin1") }).replaceAll(key, "KEY");
        if (fault) failures.push(`${fault} (seed ${batch}): ${text.slice(0, 400)}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
  }
  agent.destroy();
  return result;
}
