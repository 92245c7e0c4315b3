import { createServer, type RequestListener, type Server } from "node:http";

/**
 * Creates a server that also responds to a client that closes its side of the connection after the request.
 *
 * @returns a server that is not listening yet
 */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer(listener);
  // Without this option, Node closes a half-closed connection. Node's documentation and types do not have the option.
  return Object.assign(server, { httpAllowHalfOpen: true });
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

/** Stops accepting connections, and closes those that have no request after a moment. */
export function close(server: Server): Promise<unknown> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), 500).unref();
  return closed;
}
