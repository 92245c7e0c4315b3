import { createHistogram } from "node:perf_hooks";
import { Pool } from "undici";

export interface HttpRequest {
  /** appended to the base URL */
  path: string;
  method?: "GET" | "POST";
  body?: string;
}

export interface HttpClient {
  /** Sends a request and reads the whole response. Returns its status. */
  send(request: HttpRequest): Promise<number>;
  close(): Promise<void>;
}

/**
 * Creates a client that keeps its connections open.
 *
 * @param key an API key; without one the requests are not authenticated
 * @param connections the maximum; without one the client opens another connection when all are busy
 */
export function httpClient(baseUrl: string, key?: string, connections?: number): HttpClient {
  const { origin, pathname } = new URL(baseUrl);
  const pool = new Pool(origin, connections === undefined ? {} : { connections });
  const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  return {
    async send({ path, method = "GET", body }) {
      const response = await pool.request({ path: pathname + path, method, headers, body: body ?? null });
      await response.body.dump();
      return response.statusCode;
    },
    close: () => pool.close(),
  };
}

/** Collects durations. */
export class Latencies {
  readonly #histogram = createHistogram();

  /** @param milliseconds a fraction, positive */
  record(milliseconds: number): void {
    this.#histogram.record(Math.max(1, Math.round(milliseconds * 1e6)));
  }

  get count(): number {
    return this.#histogram.count;
  }

  /** Returns milliseconds. @param percent such as 99 */
  percentile(percent: number): number {
    return this.#histogram.percentile(percent) / 1e6;
  }
}
