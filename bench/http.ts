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

export type HttpClient = ReturnType<typeof httpClient>;

/** Creates a client that keeps its connections open, and opens another one when all are busy. */
export function httpClient(baseUrl: string, key: string) {
  const { origin, pathname } = new URL(baseUrl);
  const pool = new Pool(origin);
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  return {
    /** Sends a request and reads the whole response. Returns its status. */
    async send({ path, ...request }: HttpRequest): Promise<number> {
      const response = await pool.request({ method: "GET", ...request, path: pathname + path, headers });
      await response.body.dump();
      return response.statusCode;
    },
    close: () => pool.close(),
  };
}
