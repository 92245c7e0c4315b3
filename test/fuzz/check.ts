import fc from "fast-check";
import { errors } from "../../lib/errors.ts";
import { type Answer, exchange } from "./exchange.ts";
import { type Input, inputs } from "./http.ts";

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
]);
const PATIENCE_MS = 10_000;

/** What is wrong with an answer, if anything. */
function faultOf({ status, headers, body }: Answer, bodyless: boolean): string | undefined {
  if (status >= 500) return `status ${status}`;
  const names = headers.map(([name]) => name);
  const foreign = names.find((name) => !HEADERS.has(name));
  if (foreign) return `the header ${foreign}`;
  if (new Set(names).size < names.length) return "a header that is repeated";
  if (!headers.some(([name, value]) => name === "content-type" && value === "application/json"))
    return "another type than JSON";
  if (bodyless) return undefined;
  const content = JSON.parse(body);
  if (status < 400) return undefined;
  const { code, message, status: repeated } = content;
  if (Object.keys(content).sort().join() !== "code,message,status") return `the members of ${body}`;
  if (repeated !== status || errors[code as keyof typeof errors]?.status !== status || !message)
    return `the values of ${body}`;
  return undefined;
}

async function check(port: number, input: Input, counts: Map<string, number>): Promise<string | undefined> {
  try {
    const answers = await exchange(port, input, PATIENCE_MS);
    if (answers.length === 0 && input.complete) return "no answer";
    for (const [index, answer] of answers.entries()) {
      counts.set(String(answer.status), (counts.get(String(answer.status)) ?? 0) + 1);
      const fault = faultOf(answer, input.head && index === 0 && answer.body === "");
      if (fault) return fault;
    }
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

export interface Result {
  /** inputs that were sent */
  sent: number;
  /** answers by status; an input can have several, or none */
  counts: Map<string, number>;
  /** what went wrong, with the input that did it; no more than ten */
  failures: string[];
}

/**
 * Sends inputs to a service and checks every answer.
 *
 * @param options.seed what the inputs follow from
 * @param options.count how many
 * @param options.until when to stop at the latest, in milliseconds since 1970
 */
export async function fuzz(
  { baseUrl, key }: { baseUrl: string; key: string },
  { seed, count, until = Number.POSITIVE_INFINITY }: { seed: number; count: number; until?: number },
): Promise<Result> {
  const port = Number(new URL(baseUrl).port);
  const result: Result = { sent: 0, counts: new Map(), failures: [] };
  const samples = inputs(key);
  const BATCH = 500;
  for (let batch = 0; result.sent < count && result.failures.length < 10 && Date.now() < until; batch++) {
    const queue = fc.sample(samples, { seed: seed + batch, numRuns: Math.min(BATCH, count - result.sent) });
    await Promise.all(
      Array.from({ length: 24 }, async () => {
        for (let input = queue.pop(); input && result.failures.length < 10; input = queue.pop()) {
          const fault = await check(port, input, result.counts);
          result.sent++;
          const text = JSON.stringify(Buffer.concat(input.pieces).toString("latin1").replaceAll(key, "KEY"));
          if (fault) result.failures.push(`${fault} (seed ${seed + batch}): ${text.slice(0, 400)}`);
        }
      }),
    );
  }
  return result;
}
