import { once } from "node:events";
import { createServer } from "node:http";
import { afterAll, expect, it, jest } from "@jest/globals";
import { listen } from "../../support/listen.ts";

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

// An attempt without the abort ends after one second, and two more follow.
it.each([
  ["authorize", 1],
  ["create-pet", 1],
  ["get-pet", 1],
  ["list-pets", 3],
])("%s starts after one aborted attempt when DynamoDB does not respond", async (name, connections) => {
  requests = 0;
  closed = [];
  // The time-out of the warm-up passes when its requests have arrived.
  const controller = new AbortController();
  jest.spyOn(AbortSignal, "timeout").mockReturnValue(controller.signal);
  arrived = () => {
    if (requests === connections) controller.abort();
  };
  const { warmedUp } = await import(`../../../functions/${name}.ts`);
  await warmedUp;
  expect(requests).toBe(connections);
  // The client closes its connections, and the server notices a moment later.
  await Promise.all(closed);
  expect(requests).toBe(connections);
});
