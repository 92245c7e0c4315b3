import http from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";

/** A request, sent as it is: nothing is normalized, and the only headers added are those that HTTP needs. */
export interface HttpRequest {
  method?: string;
  /** relative to the base URL, with its query */
  path: string;
  headers?: [name: string, value: string][];
  body?: string | Buffer;
  /** how long the connection can be silent */
  timeoutMs?: number;
}

export interface HttpResponse {
  status: number;
  headers: Headers;
  /** the names of the headers in lower case; a header that was sent twice is here twice */
  headerNames: string[];
  text: string;
}

async function read(message: http.IncomingMessage): Promise<HttpResponse> {
  const pairs = message.rawHeaders.flatMap((name, index, all): [string, string][] =>
    index % 2 === 0 ? [[name.toLowerCase(), all[index + 1] ?? ""]] : [],
  );
  return {
    status: message.statusCode ?? 0,
    headers: new Headers(pairs),
    headerNames: pairs.map(([name]) => name),
    text: await text(message),
  };
}

/**
 * Sends a request over a connection that stays open.
 *
 * @throws Error when the connection breaks, or is silent for too long, before the response is complete
 */
export function send(
  baseUrl: string,
  { method = "GET", path, headers = [], body, timeoutMs = 30_000 }: HttpRequest,
): Promise<HttpResponse> {
  const { protocol, hostname, port, host, pathname } = new URL(baseUrl);
  const needed = [
    ["Host", host],
    ...(body === undefined ? [] : [["Content-Length", String(Buffer.byteLength(body))]]),
  ];
  const options = {
    method,
    hostname,
    port,
    path: pathname.replace(/\/$/, "") + path,
    headers: [...needed, ...headers].flat(),
    timeout: timeoutMs,
  };
  return new Promise((resolve, reject) => {
    const { request } = protocol === "https:" ? https : http;
    const outgoing = request(options, (message) => read(message).then(resolve, reject));
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no response within ${timeoutMs} ms`)));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Closes the open connections. */
export function disconnect(): void {
  http.globalAgent.destroy();
}
