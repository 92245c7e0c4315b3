import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { APIGatewayProxyResult } from "aws-lambda";
import type { LocalStack } from "../infra/assembly/template.ts";
import type { Docs } from "../openapi/docs-page.ts";
import { TokenAuthorizer } from "./authorizer.ts";
import { proxyEvent } from "./event.ts";
import { FunctionError, type FunctionPool } from "./function-pool.ts";
import { findRoute, Refusal, readRequest } from "./request.ts";
import type { Throttle } from "./throttle.ts";

/** API Gateway's limit for an integration, in milliseconds; it counts the wait for an instance as well. */
const INTEGRATION_TIMEOUT = 29_000;

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What the access log can say of a request: API Gateway's $context variables. */
type AccessLog = { requestId: string; httpMethod: string } & Record<string, unknown>;

/**
 * Serves a stack's REST API over HTTP. It imitates what this API uses of API Gateway: routes, TOKEN
 * authorizer with its cache, throttling, proxy and mock integrations, gateway responses.
 *
 * @param stack what the template says
 * @param pools the functions by name
 * @param options.docs answers what is for the docs page, beside the API
 * @param options.throttle what limits the requests; without one there is no limit
 * @returns a server that is not listening yet
 */
export function createGateway(
  stack: LocalStack,
  pools: Map<string, FunctionPool>,
  { docs, throttle }: { docs?: Docs; throttle?: Throttle } = {},
): Server {
  const authorizer = new TokenAuthorizer(stack.authorizer, poolOf(stack.authorizer.functionName));

  function poolOf(name: string): FunctionPool {
    const pool = pools.get(name);
    if (!pool) throw new Error(`The template has no function ${name}.`);
    return pool;
  }

  async function answer(message: IncomingMessage, log: AccessLog): Promise<Answer> {
    // Exactly one (RFC 9112, 3.2): of two, the check would read the first and the function the last.
    const [host = "", another] = message.headersDistinct.host ?? [];
    if (another !== undefined || !/^[\w.:[\]-]+$/.test(host)) throw new Refusal("DEFAULT_4XX");
    // Node would take what comes until the client goes for the body; RFC 9112, 6.3 wants a refusal.
    if (!/^chunked$/i.test(message.headers["transfer-encoding"] ?? "chunked"))
      throw new Refusal("DEFAULT_4XX");
    const request = await readRequest(message, log.requestId, stack.stageName);
    const { route, parameters } = findRoute(stack.routes, request);
    log.resourcePath = route.path;
    if (throttle && !throttle.take()) throw new Refusal("THROTTLED");
    const api = "arn:aws:execute-api:local:000000000000:local";
    const methodArn = `${api}/${stack.stageName}/${message.method}${request.path}`;
    const decision = await authorizer.decide(message.headers.authorization, methodArn);
    log["authorizer.keyId"] = decision.context.keyId;
    if (decision.refused) throw new Refusal(decision.refused);

    const { integration } = route;
    if (integration.type === "MOCK") {
      const [contentType = ""] = (message.headers["content-type"] ?? "application/json").split(";");
      if (!integration.accepts.includes(contentType.trim())) throw new Refusal("UNSUPPORTED_MEDIA_TYPE");
      return integration;
    }
    const event = proxyEvent(request, route, stack.stageName, parameters, decision.context);
    return readResult(await withTimeout(poolOf(integration.functionName).invoke(event)));
  }

  function refuse(type: string): Answer {
    const response = stack.gatewayResponses.get(type);
    if (!response) throw new Error(`The template has no gateway response ${type}.`);
    return response;
  }

  const underWay = new WeakMap<Duplex, ServerResponse>();

  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    if (await docs?.(message, response)) return;
    underWay.set(message.socket, response);
    response.on("close", () => underWay.delete(message.socket));
    const log: AccessLog = { requestId: randomUUID(), httpMethod: message.method ?? "" };
    const start = Date.now();
    const { status, headers, body } = await answer(message, log).catch((error: unknown) => {
      if (error instanceof Refusal) {
        log["error.responseType"] = error.type;
        return refuse(error.type);
      }
      if (error instanceof FunctionError) console.error(error.message);
      else console.error(error);
      return refuse("DEFAULT_5XX");
    });
    response.writeHead(status, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      // What of the request was not read cannot be told from the next one.
      ...(message.complete ? {} : { Connection: "close" }),
      ...headers,
    });
    response.end(message.method === "HEAD" ? undefined : body);

    Object.assign(log, { status, responseLatency: Date.now() - start });
    console.error(
      stack.accessLogFormat.replaceAll(/\$context\.([\w.]+)/g, (_, name) => String(log[name] ?? "-")),
    );
  };

  /** Answers where there is no request that could have a response. */
  const refuseRaw = (socket: Duplex) => {
    const { status, body } = refuse("DEFAULT_4XX");
    if (!socket.writable) return socket.destroy();
    const head = `HTTP/1.1 ${status} Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
    return socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
  };

  // Node would refuse a request without Host itself, with an empty body.
  const server = createServer({ requestTimeout: INTEGRATION_TIMEOUT, requireHostHeader: false }, respond);
  server.on("checkExpectation", respond);
  // Node would close the connection of a CONNECT without a word. It no longer minds the socket's errors either.
  server.on("connect", (_message, socket) => refuseRaw(socket.on("error", () => socket.destroy())));
  // What is no HTTP at all never becomes a request.
  server.on("clientError", (_error, socket) => {
    // A request before it on the same connection still gets its answer.
    const before = underWay.get(socket);
    if (before) {
      before.on("finish", () => socket.destroy());
      return;
    }
    refuseRaw(socket);
  });
  return server;
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Refusal("INTEGRATION_TIMEOUT")), INTEGRATION_TIMEOUT);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** What is no proxy result is answered with an error of the 5xx class. */
function readResult(result: unknown): Answer {
  const { statusCode, headers, body } = (result ?? {}) as Partial<APIGatewayProxyResult>;
  if (!Number.isInteger(statusCode) || typeof body !== "string") {
    throw new FunctionError("The function's result is no response.");
  }
  return { status: Number(statusCode), headers: (headers ?? {}) as Record<string, string>, body };
}
