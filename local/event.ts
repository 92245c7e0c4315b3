import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Route } from "../infra/assembly/template.ts";
import type { LocalRequest } from "./request.ts";

/** The last value of each name, and all of them, as API Gateway hands both over. */
function values(pairs: Iterable<[string, string]>) {
  const all = new Map<string, string[]>();
  for (const [name, value] of pairs) all.set(name, [...(all.get(name) ?? []), value]);
  if (all.size === 0) return { last: null, all: null };
  return {
    last: Object.fromEntries([...all].map(([name, each]) => [name, each.at(-1)])),
    all: Object.fromEntries(all),
  };
}

/** Headers with the client's casing, and those that API Gateway sets itself in place of the client's. */
function* headersOf({ rawHeaders, socket }: IncomingMessage): Generator<[string, string]> {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name = "", value = ""] = rawHeaders.slice(i, i + 2);
    if (!/^x-forwarded-(for|port|proto)$/i.test(name)) yield [name, value];
  }
  yield ["X-Forwarded-For", socket.remoteAddress ?? ""];
  yield ["X-Forwarded-Port", String(socket.localPort)];
  yield ["X-Forwarded-Proto", "http"];
}

/**
 * The event of a Lambda proxy integration, with the fields that API Gateway's REST API sets.
 *
 * @param authorizer what the authorizer said of the caller
 */
export function proxyEvent(
  request: LocalRequest,
  route: Route,
  stageName: string,
  pathParameters: Record<string, string>,
  authorizer: Record<string, unknown>,
) {
  const { message, id, path, query, body } = request;
  const headers = values(headersOf(message));
  const parameters = values(query);
  return {
    resource: route.path,
    path,
    httpMethod: message.method,
    headers: headers.last,
    multiValueHeaders: headers.all,
    queryStringParameters: parameters.last,
    multiValueQueryStringParameters: parameters.all,
    pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null,
    stageVariables: null,
    requestContext: {
      requestId: id,
      extendedRequestId: randomUUID(),
      stage: stageName,
      resourcePath: route.path,
      path: `/${stageName}${path}`,
      httpMethod: message.method,
      domainName: message.headers.host ?? "localhost",
      protocol: `HTTP/${message.httpVersion}`,
      identity: { sourceIp: message.socket.remoteAddress, userAgent: message.headers["user-agent"] ?? null },
      authorizer,
    },
    body: body.length > 0 ? body.toString() : null,
    isBase64Encoded: false,
  };
}
