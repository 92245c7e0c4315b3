import type { Operation } from "../lib/operation.ts";
import { createPet } from "../lib/operations/create-pet.ts";
import { operations } from "../lib/operations.ts";

const TIMEOUT_MS = 10_000;
/** API Gateway caches the authorizer's result for each spelling of the header, so that another one asks the authorizer. */
export const SPELLINGS = 60;

type AnyOperation = (typeof operations)[number];

/** What a request has in addition to the method and the path of its operation. */
interface RequestParts {
  params?: Record<string, string>;
  headers?: Record<string, string>;
  body?: object;
}

/** The request to each operation, which succeeds however often it is sent. A run has one pet, and its id is the argument. */
const requests = {
  listPets: () => ({}),
  createPet: () => ({
    headers: { "Idempotency-Key": "deployment-check" }, // adds the run's pet once (contract 4.8)
    body: { name: "Deployment check", categoryId: 0, status: "sold" },
  }),
  getPet: (petId) => ({ params: { petId } }),
} satisfies Record<AnyOperation["id"], (petId: string) => RequestParts>;

/** A request that each round sends, and what came of it. */
export interface Probe {
  name: string;
  operation: AnyOperation;
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
 * @param existingKey another key, for the operations that only read; empty if there is none
 */
export function probesOf(key: string, existingKey: string): Probe[] {
  return operations.filter(isServed).flatMap((operation) => {
    const { id, method, success } = operation;
    const probe = (name: string, key: string, expected: number): Probe => {
      return { name, operation, key, expected, sent: 0, failures: [] };
    };
    const own = [probe(id, key, success.status), probe(`${id} without a key`, "", 401)];
    const reads = existingKey && method === "GET";
    return reads ? [...own, probe(`${id} with the existing key`, existingKey, success.status)] : own;
  });
}

/** @throws an error of `fetch` */
async function request(url: string, operation: AnyOperation, petId: string, authorization: string) {
  const { id, method, path } = operation;
  const { params = {}, headers, body }: RequestParts = requests[id](petId);
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

/** Adds the run's pet, or finds it. @returns its id, or undefined after an error response @throws Error without JSON */
export async function addPet(url: string, key: string): Promise<string | undefined> {
  const { text } = await request(url, createPet, "", `Bearer ${key}`);
  return JSON.parse(text).id?.toString();
}

/** Sends the request of a probe, and records a failure. @returns whether it succeeded */
export async function send(probe: Probe, url: string, petId: string): Promise<boolean> {
  const { operation, key, expected, failures } = probe;
  const scheme = "Bearer".padEnd("Bearer ".length + (probe.sent++ % SPELLINGS));
  const outcome = await request(url, operation, petId, key && scheme + key).then(
    ({ status }) => status,
    ({ cause, name }) => cause?.code ?? name,
  );
  if (outcome !== expected) failures.push(outcome);
  return outcome === expected;
}
