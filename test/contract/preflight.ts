import { setTimeout } from "node:timers/promises";

const IN_A_ROW = 5;
const PAUSE_MS = 1000;

/**
 * Waits until a stage treats a key consistently. After a deployment API Gateway and IAM can need seconds until every
 * request sees the change, and some of the first ones fail.
 *
 * @param seconds how long to wait at most
 * @throws Error in one line that says what the stage returned instead
 */
export async function waitUntilConsistent(url: string, key: string, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (let good = 1; good <= IN_A_ROW; good++) {
    const problem = (await expectStatus(url, 200, key)) ?? (await expectStatus(url, 401));
    if (problem && Date.now() > deadline) throw new Error(problem);
    if (problem) good = 0;
    await setTimeout(problem ? PAUSE_MS : PAUSE_MS / 10);
  }
}

/** Lists pets once; returns what is wrong with the response, or undefined. */
async function expectStatus(url: string, expected: number, key?: string): Promise<string | undefined> {
  const request = `GET ${url}/pets ${key ? "with" : "without"} the key`;
  const headers = new Headers(key ? { Authorization: `Bearer ${key}` } : {});
  try {
    const signal = AbortSignal.timeout(10_000);
    const { status, body } = await fetch(`${url}/pets?limit=1`, { headers, signal });
    await body?.cancel();
    return status === expected ? undefined : `${request} returned ${status}, not ${expected}.`;
  } catch (error) {
    const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    return `${request} failed: ${cause?.code ?? message}.`;
  }
}
