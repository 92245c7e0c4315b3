import fc from "fast-check";
import { errors } from "../../../lib/errors.ts";
import { disconnect, type HttpResponse, send } from "../../support/http.ts";
import { hostileRequest } from "./hostile-requests.ts";
import type { TestedService } from "./service.ts";

/** Every header that the service, its gateway and HTTP itself define. */
const HEADERS = new Set(
  "allow cache-control connection content-length content-type date deprecation keep-alive link retry-after sunset www-authenticate x-amzn-requestid".split(
    " ",
  ),
);
const TIMEOUT_MS = 10_000;
const CONNECTIONS = 24;
const MAX_FAULTS = 10;

/** The responses to hostile requests. */
export interface HostileResult {
  /** number of responses */
  sent: number;
  /** number of responses by status */
  counts: Map<number, number>;
}

/** What is wrong with a response, if anything. */
function faultOf({ status, headers, headerNames, text }: HttpResponse, method: string): string | undefined {
  if (status >= 500) return `status ${status}`;
  const unknown = headerNames.find((name) => !HEADERS.has(name));
  if (unknown) return `the header ${unknown}`;
  if (new Set(headerNames).size < headerNames.length) return "a repeated header";
  if (headers.get("content-type") !== "application/json") return "another type than JSON";
  if (method === "HEAD") return undefined;
  const content = JSON.parse(text);
  if (status < 400) return undefined;
  const { code, message, status: repeated } = content;
  if (Object.keys(content).sort().join() !== "code,message,status") return `the members of ${text}`;
  if (repeated !== status || errors[code as keyof typeof errors]?.status !== status || !message)
    return `the values of ${text}`;
  return undefined;
}

/**
 * Sends hostile requests to a service and checks every response.
 *
 * @param options.seed determines the requests
 * @param options.result counts the responses
 * @throws Error that names what is wrong with up to ten responses, and the requests
 */
export async function attack(
  { baseUrl, key }: TestedService,
  { seed, count, result }: { seed: number; count: number; result: HostileResult },
): Promise<void> {
  const queue = fc.sample(hostileRequest(key), { seed, numRuns: count });
  const faults: string[] = [];
  const client = async () => {
    for (let request = queue.pop(); request && faults.length < MAX_FAULTS; request = queue.pop()) {
      const { method, body, ...head } = request;
      // The requests have whole paths, some of them outside the base URL.
      const fault = await send(new URL(baseUrl).origin, { ...request, timeoutMs: TIMEOUT_MS })
        .then((response) => {
          result.sent++;
          result.counts.set(response.status, (result.counts.get(response.status) ?? 0) + 1);
          return faultOf(response, method);
        })
        .catch(({ message }: Error) => message);
      const text = () => JSON.stringify({ method, ...head, body: body.toString("latin1") });
      if (fault) faults.push(`${fault}: ${text().replaceAll(key, "KEY").slice(0, 400)}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  disconnect();
  if (faults.length > 0) throw new Error(`Hostile requests, seed ${seed}:\n${faults.join("\n")}`);
}
