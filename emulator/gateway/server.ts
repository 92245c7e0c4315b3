import { type RequestListener, Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { BufferedRequest } from "./request.ts";

/** How long a stop waits for the responses to the requests that have arrived. */
export const DRAIN_TIMEOUT_MS = 5000;
/** How many requests a client can send on a connection before it has the first response. */
export const MAX_PIPELINED = 10;

const settings = {
  IncomingMessage: BufferedRequest,
  // API Gateway's limit for the request line and the values of all headers. Node counts their names as well.
  maxHeaderSize: 10_240,
  // How long a request and its headers can take to arrive, and how often Node checks it, in milliseconds.
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
};
/** How long nothing can happen on a connection. API Gateway's limit for an integration is 29 s. */
const SILENCE_TIMEOUT_MS = 30_000;

export type Listener = RequestListener<typeof BufferedRequest>;

/** A server that handles the requests of a connection one after the other. */
export class HttpServer extends Server<typeof BufferedRequest> {
  /** The responses that each connection waits for, oldest first. */
  readonly #waiting = new Map<Socket, ServerResponse<BufferedRequest>[]>();

  constructor(listener: Listener) {
    super(settings);
    // Node's documentation and types do not have this option. Without it, Node closes a connection whose client closed
    // its side after the request.
    Object.assign(this, { httpAllowHalfOpen: true });
    this.timeout = SILENCE_TIMEOUT_MS;
    this.on("connection", (socket) => {
      const waiting: ServerResponse<BufferedRequest>[] = [];
      this.#waiting.set(socket, waiting);
      socket.on("close", () => {
        this.#waiting.delete(socket);
        for (const { req } of waiting) req.discard();
      });
    });

    const handle: Listener = (message, response) => {
      const { socket } = message;
      const waiting = this.#waiting.get(socket);
      if (!waiting || waiting.length >= MAX_PIPELINED) return socket.destroy();
      const previous = waiting.at(-1);
      waiting.push(response);
      response.on("close", () => {
        waiting.shift()?.req.discard();
        if (waiting.length === 0 && !this.listening) socket.destroySoon();
      });
      if (!previous) return listener(message, response);
      // The client sent this request before it had the last response.
      previous.on("close", () => !socket.destroyed && listener(message, response));
    };
    this.on("request", handle);
    // A server can ignore an expectation that it does not know (RFC 9110, 10.1.1).
    this.on("checkExpectation", handle);
  }

  /** Stops accepting connections, and responds to the requests that have arrived, for a limited time. */
  async drain(): Promise<void> {
    const closed = new Promise((resolve) => this.close(resolve));
    for (const [socket, waiting] of this.#waiting) {
      const last = waiting.at(-1);
      if (!last) socket.destroy();
      else if (!last.headersSent) last.setHeader("Connection", "close");
    }
    const timer = setTimeout(() => this.closeAllConnections(), DRAIN_TIMEOUT_MS);
    await closed;
    clearTimeout(timer);
  }
}
