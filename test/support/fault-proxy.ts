import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";

/** DynamoDB's own errors: HTTP status and type. */
const refusals = {
  "internal error": [500, "com.amazonaws.dynamodb.v20120810#InternalServerError"],
  "throughput exceeded": [400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"],
  throttling: [400, "com.amazon.coral.availability#ThrottlingException"],
  "write conflict": [400, "com.amazonaws.dynamodb.v20120810#ReplicatedWriteConflictException"],
  "item collection full": [400, "com.amazonaws.dynamodb.v20120810#ItemCollectionSizeLimitExceededException"],
  "access denied": [400, "com.amazon.coral.service#AccessDeniedException"],
  "table missing": [400, "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"],
} as const;

/**
 * The faults between a function and its table:
 * - `refuse`: nothing listens
 * - `reset`: the connection breaks in the middle of the response
 * - `delay`: the response comes after the client has given up; until then the server says that it works on it
 * - `stall`: the response begins and never ends
 * - `malformed`, `truncated`: the response is not JSON, or ends too early
 * - `lost`: the work is done, but its response never arrives
 * - the rest: DynamoDB's own errors
 */
const faults = [
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
interface FaultProxy {
  endpoint: string;
  /** requests that have arrived since the fault was set */
  requests(): number;
  /**
   * Sets the fault from now on.
   *
   * @param fault undefined to forward everything again
   * @param times how many requests it affects; later ones are forwarded
   */
  set(fault: Fault | undefined, times?: number): Promise<void>;
  close(): Promise<void>;
}

// Longer than the second that a function waits for a response (lib/dynamo/client.ts).
const DELAY_MS = 1500;
const PROGRESS_MS = 500;

interface UpstreamResponse {
  status: number;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

async function read(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Forwards a request unchanged, with its signature. */
async function forward(target: string, { url, method, headers }: IncomingMessage, body: Buffer) {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    request(new URL(url ?? "/", target), { method, headers, agent: false }, resolve)
      .on("error", reject)
      .end(body);
  });
  return { status: message.statusCode ?? 500, headers: message.headers, body: await read(message) };
}

/** Sends only a part of the body, although the headers announce the whole. */
async function begin(response: ServerResponse, { status, headers, body }: UpstreamResponse) {
  response.writeHead(status, { ...headers, "content-length": body.length + 1 });
  await new Promise((resolve) => response.write(body.subarray(0, body.length / 2), resolve));
}

/**
 * Starts a proxy that forwards everything until a fault is set.
 *
 * @param target URL of the DynamoDB-compatible server
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
      response.end(JSON.stringify({ __type: type, message: "An injected fault." }));
      return;
    }
    for (let waited = 0; current === "delay" && waited < DELAY_MS; waited += PROGRESS_MS) {
      response.writeProcessing();
      await setTimeout(PROGRESS_MS);
    }
    const upstream = await forward(target, message, sent);
    if (current === "lost") return void message.socket.destroy();
    if (current === "reset" || current === "truncated" || current === "stall") {
      await begin(response, upstream);
      if (current === "reset") message.socket.resetAndDestroy();
      if (current === "truncated") message.socket.end();
      return;
    }
    const { status, headers } = upstream;
    const body = current === "malformed" ? Buffer.from('{"Item":{"id":') : upstream.body;
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
      // The connections of the last fault belong to it.
      if (server.listening) await close();
      // The client is in this process. It reads the end of its connections in the next turns of the event loop;
      // before, it would spend an attempt on one of them.
      for (let turn = 0; turn < 3; turn++) await setImmediate();
      fault = next;
      left = times;
      requests = 0;
      if (next !== "refuse") await listen(port);
    },
    close,
  };
}
