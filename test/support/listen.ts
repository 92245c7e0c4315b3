import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Makes a server listen on 127.0.0.1 and a free port.
 *
 * @returns `origin` such as `http://127.0.0.1:1234`. `close` also ends open connections; a second call does nothing
 */
export async function listen(server: Server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
