import { deployedStages } from "../infra/stages.ts";
import type { Operation } from "../lib/operation.ts";
import { createPet } from "../lib/operations/create-pet.ts";
import { listPets } from "../lib/operations/list-pets.ts";
import { operations } from "../lib/operations.ts";

const TIMEOUT_MS = 10_000;
/**
 * API Gateway caches the authorizer's result for each spelling of the header. With a request every second, these are so many
 * that each request asks the authorizer.
 */
export const SPELLINGS = Math.max(1, ...deployedStages.map((stage) => stage.authorizerCacheSeconds));

type AnyOperation = (typeof operations)[number];

/** What a request has in addition to the method and the path of its operation. */
interface RequestParts {
  params?: Record<string, string>;
  headers?: Record<string, string>;
  body?: object;
}

/** An id that no item has: requests with it are a 404. */
const NO_PET = "1";

/**
 * The request to each operation, which changes nothing however often it is sent. The argument is the id of a pet of clients
 * for a GET, else NO_PET.
 */
const requests: Record<AnyOperation["id"], (petId: string) => RequestParts> = {
  listPets: () => ({}),
  createPet: () => ({
    // Adds one pet for each API key (contract 4.8). From then on, the function finds this pet, also after its deletion.
    headers: { "Idempotency-Key": "deployment-check" },
    body: { name: "Deployment check", categoryId: 0, status: "sold" },
  }),
  getPet: (petId) => ({ params: { petId } }),
};

/** A request that each round sends, and what came of it. */
export interface Probe {
  name: string;
  operation: AnyOperation;
  petId: string;
  /** empty for a request without a key */
  key: string;
  /** the status of a success */
  expected: number;
  sent: number;
  /** statuses, or the codes of network errors */
  failures: (string | number)[];
}

const isServed = ({ deprecation }: Operation) => !deprecation || Date.now() < deprecation.sunset.getTime();

/**
 * Returns the probes of all operations that are served: with the key and without one.
 *
 * @param petId of any pet; without one, the operations on a pet must not find it
 */
export function probesOf(key: string, petId = NO_PET): Probe[] {
  return operations.filter(isServed).flatMap((operation) => {
    const { id, method, success } = operation;
    const probe = (name: string, key: string, expected: number): Probe => {
      return { name, operation, petId: found, key, expected, sent: 0, failures: [] };
    };
    const found = method === "GET" ? petId : NO_PET; // other methods can change or delete a pet of clients
    const { params = {} } = requests[id](found);
    const expected = Object.values(params).includes(NO_PET) ? 404 : success.status;
    return [probe(id, key, expected), probe(`${id} without a key`, "", 401)];
  });
}

/** @throws an error of `fetch` */
async function request(url: string, operation: AnyOperation, petId: string, authorization: string) {
  const { id, method, path } = operation;
  const { params = {}, headers, body } = requests[id](petId);
  const response = await fetch(url + path.replaceAll(/\{(\w+)\}/g, (_, name) => params[name] ?? ""), {
    method,
    headers: {
      "Content-Type": "application/json",
      ...headers,
      ...(authorization && { Authorization: authorization }),
    },
    body: body ? JSON.stringify(body) : null,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: response.status, text: await response.text() };
}

/** @returns the id of the first pet in a response to a request without a pet, or undefined after an error */
const idFrom = (operation: AnyOperation) => async (url: string, key: string) => {
  const response = await request(url, operation, NO_PET, `Bearer ${key}`).catch(() => undefined);
  return /"id":\s*(\d+)/.exec(response?.text ?? "")?.[1];
};
/** Finds a pet. */
export const findPet = idFrom(listPets);
/** Adds the pet of a key, or finds it. */
export const addPet = idFrom(createPet);

/** Sends the request of a probe, and records a failure. @returns whether it succeeded */
export async function send(probe: Probe, url: string): Promise<boolean> {
  const { operation, petId, key, expected, failures } = probe;
  const scheme = "Bearer".padEnd("Bearer ".length + (probe.sent++ % SPELLINGS));
  const outcome = await request(url, operation, petId, key && scheme + key).then(
    ({ status }) => status,
    ({ cause, name }) => cause?.code ?? name,
  );
  if (outcome !== expected) failures.push(outcome);
  return outcome === expected;
}
