import { once } from "node:events";
import { createServer } from "node:http";
import { basename } from "node:path";
import { afterAll, expect, it, jest } from "@jest/globals";
import { entryPoints } from "../../infra/bundle/options.ts";
import { recordCalls } from "../support/calls.ts";
import { listen } from "../support/listen.ts";

let requests = 0;
let arrived: () => void = () => undefined;
let closed: Promise<unknown>[] = [];

// Accepts requests and never responds.
const silent = createServer((_message, response) => {
  requests++;
  closed.push(once(response, "close"));
  arrived();
});
const { origin, close } = await listen(silent);
process.env.AWS_ENDPOINT_URL_DYNAMODB = origin;
afterAll(close);

const takeCalls = recordCalls();

// An attempt without the abort ends after one second, and two more follow.
it.each(entryPoints().map((file) => basename(file)))(
  "%s starts after one aborted attempt of each call when DynamoDB does not respond",
  async (file) => {
    requests = 0;
    closed = [];
    // The timeout of the warm-up passes when the requests of all its calls have arrived.
    const controller = new AbortController();
    const timeout = jest.spyOn(AbortSignal, "timeout").mockReturnValue(controller.signal);
    let calls = Number.POSITIVE_INFINITY;
    arrived = () => {
      if (requests >= calls) controller.abort();
    };
    const { ready } = await import(`../../functions/${file}`);
    calls = takeCalls().length;
    expect(calls).toBeGreaterThan(0);
    arrived();
    await ready;
    expect(requests).toBe(calls);
    expect(timeout.mock.lastCall?.[0]).toBeLessThan(1000);
    // The client closes its connections, and the server notices a moment later.
    await Promise.all(closed);
    expect({ requests, calls: takeCalls() }).toEqual({ requests: calls, calls: [] });
  },
);
