import { createHistogram } from "node:perf_hooks";
import { Pool } from "undici";
import { body } from "./requests.ts";

export interface HttpRequest {
  /** appended to the base URL */
  path: string;
  method?: "GET" | "POST";
  body?: string;
}

/** The requests that are measured. They get the id of an existing pet. */
export const operations: readonly { name: string; request: (petId: string) => HttpRequest }[] = [
  { name: "listPets, all", request: () => ({ path: "/pets" }) },
  { name: "listPets, one status", request: () => ({ path: "/pets?status=sold" }) },
  { name: "getPet", request: (petId) => ({ path: `/pets/${petId}` }) },
  { name: "createPet", request: () => ({ path: "/pets", method: "POST", body }) },
];

export interface HttpClient {
  /** Sends a request and reads the whole response. Returns its status. */
  send(request: HttpRequest): Promise<number>;
  close(): Promise<void>;
}

/** Creates a client that keeps its connections open, and opens another one when all are busy. */
export function httpClient(baseUrl: string, key: string): HttpClient {
  const { origin, pathname } = new URL(baseUrl);
  const pool = new Pool(origin);
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  return {
    async send({ path, method = "GET", body = null }) {
      const response = await pool.request({ path: pathname + path, method, headers, body });
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
