import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { Body } from "./body.ts";

/** How long a stop waits for the responses to the requests that have arrived, in milliseconds. */
const DRAIN_TIMEOUT = 5000;

/** With more connections, the one that has waited for its client the longest is closed. */
const MAX_CONNECTIONS = 1000;
/** How many requests a client can send on a connection before it has the first response. */
const MAX_PIPELINED = 10;

const settings = {
  // API Gateway's limit for the request line and the values of all headers. Node counts their names as well.
  maxHeaderSize: 10_240,
  // How long a request can take to arrive, and how often Node checks it, in milliseconds.
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
};
/** How long a client can send and read nothing while the service waits for it, in milliseconds. */
const SILENCE_TIMEOUT = 5000;

/** Handles a request, whose body is already being received. */
export type Listener = (message: IncomingMessage, response: ServerResponse, body: Body) => void;

/** A request that does not have its whole response. */
interface Exchange {
  response: ServerResponse;
  body: Body;
}

/** Whether a connection waits for its client: to send a request or the rest of one, or to read the response. */
const waitsForClient = ([first]: Exchange[] = []) =>
  !first || first.response.writableEnded || !first.response.req.complete;

/**
 * A server that limits what a client can hold: connections, headers, bodies, time, and requests on one connection, which
 * it handles one after the other.
 */
export class HttpServer extends Server {
  /** The requests of each connection, oldest first; the connections in the order of their last requests. */
  readonly #connections = new Map<Socket, Exchange[]>();

  constructor(listener: Listener) {
    super(settings);
    // Node's documentation and types do not have this option. Without it, Node closes a connection whose client closed
    // its side after the request.
    Object.assign(this, { httpAllowHalfOpen: true });
    this.timeout = SILENCE_TIMEOUT;
    // A function can take longer.
    this.on("timeout", (socket) => {
      if (waitsForClient(this.#connections.get(socket))) socket.destroy();
    });
    this.on("connection", (socket) => {
      if (this.#connections.size >= MAX_CONNECTIONS) {
        const all = [...this.#connections];
        const [oldest] = all.find(([, waiting]) => waitsForClient(waiting)) ?? all[0] ?? [socket];
        this.#connections.delete(oldest.destroy());
      }
      const waiting: Exchange[] = [];
      this.#connections.set(socket, waiting);
      socket.on("close", () => {
        this.#connections.delete(socket);
        for (const { body } of waiting) body.discard();
      });
    });

    const handle: RequestListener = (message, response) => {
      const { socket } = message;
      const waiting = this.#connections.get(socket);
      if (!waiting || waiting.length >= MAX_PIPELINED) return socket.destroy();
      this.#connections.delete(socket);
      this.#connections.set(socket, waiting);
      const body = new Body(message);
      const start = () => listener(message, response, body);
      const previous = waiting.at(-1)?.response;
      waiting.push({ response, body });
      response.on("close", () => {
        waiting.shift()?.body.discard();
        if (waiting.length === 0 && !this.listening) socket.destroySoon();
      });
      if (!previous) return start();
      // The client sent this request before it had the last response.
      previous.on("close", () => !socket.destroyed && start());
    };
    this.on("request", handle);
    // A server can ignore an expectation that it does not know (RFC 9110, 10.1.1).
    this.on("checkExpectation", handle);
  }

  /** Stops accepting connections, and responds to the requests that have arrived, for a limited time. */
  async drain(): Promise<void> {
    const closed = new Promise((resolve) => this.close(resolve));
    for (const [socket, waiting] of this.#connections) {
      const last = waiting.at(-1)?.response;
      if (!last) socket.destroy();
      else if (!last.headersSent) last.setHeader("Connection", "close");
    }
    const timer = setTimeout(() => this.closeAllConnections(), DRAIN_TIMEOUT);
    await closed;
    clearTimeout(timer);
  }
}

const reasons: Record<string, string> = {
  EADDRINUSE: "is in use. Set PORT to another one.",
  EACCES: "needs privileges that this user does not have. Set PORT to one above 1023.",
};

/**
 * Listens on 127.0.0.1.
 *
 * @throws Error in one line when the port cannot be bound
 */
export function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", ({ code = "" }: NodeJS.ErrnoException) =>
      reject(new Error(`Port ${port} ${reasons[code] ?? `cannot be bound (${code}).`}`)),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
}

/**
 * Checks that the port can be bound before the start, which can take seconds.
 *
 * @throws Error in one line
 */
export async function checkPort(port: number): Promise<void> {
  const server = createServer();
  await listen(server, port);
  await new Promise((resolve) => server.close(resolve));
}
