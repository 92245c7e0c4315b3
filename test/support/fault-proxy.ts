import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Json } from "./json.ts";
import { listen } from "./listen.ts";

/** DynamoDB's own errors: HTTP status and type. */
const refusals = {
  "internal error": [500, "com.amazonaws.dynamodb.v20120810#InternalServerError"],
  "throughput exceeded": [400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"],
  throttling: [400, "com.amazon.coral.availability#ThrottlingException"],
  "request limit exceeded": [400, "com.amazonaws.dynamodb.v20120810#RequestLimitExceeded"],
  "access denied": [400, "com.amazon.coral.service#AccessDeniedException"],
  "table missing": [400, "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"],
} as const;

/** The faults between a function and its table. */
export type Fault =
  | "refuse" // nothing listens
  | "reset" // the connection breaks in the middle of the response
  | "delay" // the work is done after the client has given up; until then the server says that it works on it
  | "stall" // the response begins and never ends
  | "malformed" // the response is not JSON
  | "empty" // the response is an empty object
  | "truncated" // the response ends too early
  | "lost" // the work is done, but its response never arrives
  | "late" // the connection breaks; the work is done later, when the next fault is set
  | "repeated" // the work is done twice
  | "without the item" // the refusal of a write does not say which item is in the way
  | keyof typeof refusals;

/** Which request since the fault was set, and which attempt of its call, both from 1. */
type Position = Record<"nth" | "attempt", number>;

const PROGRESS_MS = 500;

const agent = new Agent({ keepAlive: true });

/** Forwards a request, with its signature. An embedded store refuses the name of another host. */
async function forward(target: string, { method, headers }: IncomingMessage, body: Buffer) {
  const to = new URL("/", target);
  const sent = request(to, { method, headers: { ...headers, host: to.host }, agent }).end(body);
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  return { status: message.statusCode ?? 500, headers: message.headers, body: await buffer(message) };
}

/**
 * Starts a proxy in front of a DynamoDB-compatible server that forwards everything until a fault is set.
 *
 * @param target URL of the server
 */
export async function startFaultProxy(target: string) {
  let fault: Fault | undefined;
  let affects = (_position: Position) => true;
  let nth = 0;
  let attempts: Record<string, number> = {};
  let beforeEach = (_input: Json): unknown => undefined;
  const late: (() => Promise<unknown>)[] = [];

  async function respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await buffer(message);
    response.sendDate = false; // the SDK would repeat a call if its own clock is another one
    const path = message.url?.split("/")[1] ?? "";
    const [, attempt] = /^attempt=(\d+)/.exec(String(message.headers["amz-sdk-request"])) ?? [];
    const position = { nth: ++nth, attempt: Number(attempt) };
    attempts[path] = Math.max(attempts[path] ?? 0, position.attempt);
    await beforeEach(JSON.parse(String(sent)));
    const current = affects(position) ? fault : undefined;
    if (current && current in refusals) {
      const [status, type] = refusals[current as keyof typeof refusals];
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify({ __type: type, message: "An injected fault." }));
      return;
    }
    while (current === "delay" && !message.socket.destroyed) {
      response.writeProcessing();
      await setTimeout(PROGRESS_MS);
    }
    if (current === "late") {
      late.push(() => forward(target, message, sent));
      return void message.socket.destroy();
    }
    if (current === "repeated") await forward(target, message, sent);
    const { status, headers, body } = await forward(target, message, sent);
    if (current === "lost") return void message.socket.destroy();
    if (current === "reset" || current === "truncated" || current === "stall") {
      // Only a part of the body, although the headers announce the whole.
      response.writeHead(status, { ...headers, "content-length": body.length + 1 });
      await new Promise((resolve) => response.write(body.subarray(0, body.length / 2), resolve));
      if (current === "reset") message.socket.resetAndDestroy();
      if (current === "truncated") message.socket.end();
      return;
    }
    const answers: Partial<Record<Fault, string>> = {
      malformed: '{"Item":{"status":{"S":sold}}}', // which a parser quotes
      empty: "{}",
      "without the item": JSON.stringify({ ...JSON.parse(String(body)), Item: undefined }),
    };
    const answer = Buffer.from((current && answers[current]) ?? body);
    // The checksum is of the body that was forwarded.
    const { "x-amz-crc32": _, date, ...others } = headers;
    response.writeHead(status, { ...others, "content-length": answer.length }).end(answer);
  }

  const server = createServer((message, response) => {
    respond(message, response).catch(() => message.socket.destroy());
  });
  const { origin, close } = await listen(server);
  return {
    endpoint: origin,
    /** Calls a function before each request is executed. */
    beforeEach: (hook: typeof beforeEach) => {
      beforeEach = hook;
    },
    /** Returns how many attempts a call has had at most since the fault was set, by its path, which is not forwarded. */
    attempts: () => attempts,
    /**
     * Sets the fault from now on.
     *
     * @param next undefined to forward everything again
     * @param which returns whether it affects a request; others are forwarded
     */
    async set(next: Fault | undefined, which: typeof affects = () => true): Promise<void> {
      // The connections of the last fault belong to it.
      await close();
      for (const execute of late.splice(0)) await execute();
      // The client is in this process. It reads the end of its connections in the next turns of the event loop;
      // before, it would spend an attempt on one of them.
      for (let turn = 0; turn < 3; turn++) await setImmediate();
      fault = next;
      affects = which;
      nth = 0;
      attempts = {};
      if (next !== "refuse") {
        await once(server.listen(Number(new URL(origin).port), "127.0.0.1"), "listening");
      }
    },
    close,
  };
}
