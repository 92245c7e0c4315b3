import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** DynamoDB's own refusals, as it words them: HTTP status and body. */
const refusals = {
  "internal error": [500, "com.amazonaws.dynamodb.v20120810#InternalServerError"],
  "throughput exceeded": [400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"],
  throttling: [400, "com.amazon.coral.availability#ThrottlingException"],
  "item collection full": [400, "com.amazonaws.dynamodb.v20120810#ItemCollectionSizeLimitExceededException"],
} as const;

/**
 * What can go wrong between a function and its table:
 * - `refuse`: nobody listens;
 * - `reset`: the connection breaks in the middle of the answer;
 * - `delay`: the answer comes after the client has given up;
 * - `stall`: the answer begins and never ends;
 * - `malformed`, `truncated`: the answer is no JSON, or ends too early;
 * - `lost`: the work is done, but its answer never arrives;
 * - the rest: DynamoDB refuses.
 */
export const faults = [
  "refuse",
  "reset",
  "delay",
  "stall",
  "malformed",
  "truncated",
  "lost",
  ...(Object.keys(refusals) as (keyof typeof refusals)[]),
] as const;
export type Fault = (typeof faults)[number];

/** A proxy in front of a DynamoDB-compatible server that fails on demand. */
export interface FaultProxy {
  endpoint: string;
  /** requests that have arrived since the fault was set */
  requests(): number;
  /**
   * Sets what goes wrong from now on.
   *
   * @param fault undefined to forward everything again
   * @param times how many requests it hits; those after them are forwarded
   */
  set(fault: Fault | undefined, times?: number): Promise<void>;
  close(): Promise<void>;
}

// Longer than the second that a function waits for an answer (lib/dynamo/client.ts).
const DELAY_MS = 1500;

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

async function read(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Sends a request on as it came, DynamoDB's signature included. */
async function forward(target: string, { url, method, headers }: IncomingMessage, body: Buffer) {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    request(new URL(url ?? "/", target), { method, headers, agent: false }, resolve)
      .on("error", reject)
      .end(body);
  });
  return { status: message.statusCode ?? 500, headers: message.headers, body: await read(message) };
}

/** Answers with only a part of the body, though the headers promise the whole. */
async function begin(response: ServerResponse, { status, headers, body }: Answer) {
  response.writeHead(status, { ...headers, "content-length": body.length + 1 });
  await new Promise((resolve) => response.write(body.subarray(0, body.length / 2), resolve));
}

/**
 * Starts a proxy that forwards everything until a fault is set.
 *
 * @param target where the DynamoDB-compatible server answers
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let fault: Fault | undefined;
  let left = 0;
  let requests = 0;

  async function respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await read(message);
    requests++;
    const current = left-- > 0 ? fault : undefined;
    if (current && current in refusals) {
      const [status, type] = refusals[current as keyof typeof refusals];
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify({ __type: type, message: "A fault that was asked for." }));
      return;
    }
    if (current === "delay") await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
    const answer = await forward(target, message, sent);
    if (current === "lost") return void message.socket.destroy();
    if (current === "reset" || current === "truncated" || current === "stall") {
      await begin(response, answer);
      if (current === "reset") message.socket.resetAndDestroy();
      if (current === "truncated") message.socket.end();
      return;
    }
    const { status, headers } = answer;
    const body = current === "malformed" ? Buffer.from('{"Item":{"id":') : answer.body;
    // The checksum is of the body that was forwarded.
    delete headers["x-amz-crc32"];
    response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
  }

  const server = createServer((message, response) => {
    respond(message, response).catch(() => message.socket.destroy());
  });
  const listen = (port: number) => once(server.listen(port, "127.0.0.1"), "listening");
  const close = () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    return closed;
  };

  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    requests: () => requests,
    async set(next, times = Number.POSITIVE_INFINITY) {
      // Connections that the last fault left behind belong to it.
      if (server.listening) await close();
      // The client has to notice, or it would spend an attempt on one of them.
      await new Promise((resolve) => setTimeout(resolve, 20));
      fault = next;
      left = times;
      requests = 0;
      if (next !== "refuse") await listen(port);
    },
    close,
  };
}
