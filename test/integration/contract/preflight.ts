import { setTimeout } from "node:timers/promises";

const IN_A_ROW = 5;
const PAUSE_MS = 1000;

/**
 * Waits until a stage treats a key consistently. After a deployment API Gateway and IAM can need seconds until every
 * request sees the change, and some of the first ones fail.
 *
 * @param options.seconds how long to wait at most
 * @throws Error in one line that says what the stage returned instead
 */
export async function waitUntilConsistent(
  url: string,
  key: string,
  { seconds = 60 }: { seconds?: number } = {},
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (let good = 0; good < IN_A_ROW; ) {
    const problem = (await expectStatus(url, 200, key)) ?? (await expectStatus(url, 401));
    if (!problem) good += 1;
    else if (Date.now() > deadline) throw new Error(problem);
    else good = 0;
    if (good < IN_A_ROW) await setTimeout(good === 0 ? PAUSE_MS : PAUSE_MS / 10);
  }
}

/** Lists pets once; returns what is wrong with the response, or undefined. */
async function expectStatus(url: string, expected: number, key?: string): Promise<string | undefined> {
  const request = `GET ${url}/pets ${key ? "with" : "without"} the key`;
  try {
    const response = await fetch(`${url}/pets?limit=1`, {
      headers: key ? { Authorization: `Bearer ${key}` } : {},
      signal: AbortSignal.timeout(10_000),
    });
    await response.body?.cancel();
    return response.status === expected
      ? undefined
      : `${request} returned ${response.status}, not ${expected}.`;
  } catch (error) {
    const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    return `${request} failed: ${cause?.code ?? message}.`;
  }
}
