import http from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";

/** A request, which is sent as it is: nothing is normalized. */
export interface HttpRequest {
  method?: string;
  /** relative to the base URL, with its query */
  path: string;
  /** an API key to send, with the Content-Type of a JSON body */
  key?: string;
  headers?: [name: string, value: string][];
  body?: string | Buffer;
}

interface HttpResponse {
  status: number;
  headers: Headers;
  /** in lower case; the name of a header that was sent twice is here twice */
  headerNames: string[];
  text: string;
}

async function read(message: http.IncomingMessage): Promise<HttpResponse> {
  const { statusCode: status = 0, rawHeaders } = message;
  const pairs = rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ""]] : [],
  );
  const headerNames = pairs.map(([name]) => name);
  return { status, headers: new Headers(pairs), headerNames, text: await text(message) };
}

/**
 * Sends a request over a connection that stays open.
 *
 * @throws Error when the connection breaks, or is silent for too long, before the response is complete
 */
export function send(baseUrl: string, request: HttpRequest): Promise<HttpResponse> {
  const { method = "GET", path, key, headers = [], body } = request;
  const { protocol, hostname, port, host, pathname } = new URL(baseUrl);
  const own = [["Host", host]];
  if (key) own.push(["Authorization", `Bearer ${key}`], ["Content-Type", "application/json"]);
  if (body !== undefined) own.push(["Content-Length", String(Buffer.byteLength(body))]);
  const target = { method, hostname, port, path: pathname.replace(/\/$/, "") + path };
  const options = { ...target, headers: [...own, ...headers].flat(), timeout: 30_000 };
  return new Promise((resolve, reject) => {
    const client = protocol === "https:" ? https : http;
    const outgoing = client.request(options, (message) => read(message).then(resolve, reject));
    outgoing.on("timeout", () => outgoing.destroy(new Error("no response within 30 s")));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Closes the open connections of http. */
export function disconnect(): void {
  http.globalAgent.destroy();
}
