import { type RequestListener, Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How long a stop waits for the responses to the requests that have arrived. */
export const DRAIN_TIMEOUT_MS = 5000;

/** API Gateway's limit for the request line and the values of all headers, in bytes. Node counts their names as well. */
const maxHeaderSize = 10_240;
/**
 * How long an idle connection stays open, in milliseconds. A client that is busy for longer does not see it end, and its
 * next request fails. Node's own limit is 5 s, which a busy machine can take to load a program.
 */
const keepAliveTimeout = 60_000;

/** A server that can respond to the requests that have arrived before it stops. */
export class HttpServer extends Server {
  /** The last response of each connection that has had a request. */
  readonly #connections = new Map<Socket, ServerResponse | undefined>();

  constructor(listener: RequestListener) {
    super({ maxHeaderSize, keepAliveTimeout }, listener);
    this.on("connection", (socket) => {
      this.#connections.set(socket, undefined);
      socket.on("close", () => this.#connections.delete(socket));
    });
    this.on("request", ({ socket }, response) => this.#connections.set(socket, response));
  }

  /** Does nothing. close() calls it, and would cut off a response that is written and not delivered yet. */
  override closeIdleConnections(): void {}

  /** Stops accepting connections, and responds to the requests that have arrived, for a limited time. */
  async drain(): Promise<void> {
    const closed = new Promise((resolve) => this.close(resolve));
    for (const [socket, response] of this.#connections) {
      if (!response || response.closed) {
        socket.destroy();
      } else {
        if (!response.headersSent) response.setHeader("Connection", "close");
        response.on("close", () => socket.destroySoon());
      }
    }
    const timer = setTimeout(() => this.closeAllConnections(), DRAIN_TIMEOUT_MS);
    await closed;
    clearTimeout(timer);
  }
}
