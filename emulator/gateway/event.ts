import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { RequestContext } from "./context.ts";
import type { LocalRequest } from "./request.ts";
import type { RouteMatch } from "./router.ts";

/** The last value of every name, and all values, since API Gateway's event has both. */
function lastAndAllValues(pairs: [string, string][]) {
  if (pairs.length === 0) return { last: null, all: null };
  const all = [...Map.groupBy(pairs, ([name]) => name)];
  return {
    last: Object.fromEntries(pairs),
    all: Object.fromEntries(all.map(([name, same]) => [name, same.map(([, value]) => value)])),
  };
}

/** The client's headers, with their casing. The headers that API Gateway sets itself replace the client's. */
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
 * @param caller the authorizer's context
 */
export function proxyEvent(
  { message, method, path, query, body }: LocalRequest & { body: Buffer },
  { route, pathParameters }: RouteMatch,
  { requestId, extendedRequestId, requestTime, stage, ...context }: RequestContext,
  caller: object,
) {
  // API Gateway would replace invalid bytes by U+FFFD. The function sees them here, and refuses them.
  const isBase64Encoded = !isUtf8(body);
  const headers = lastAndAllValues([...headersOf(message)]);
  const parameters = lastAndAllValues([...query]);
  return {
    resource: route.path,
    path,
    httpMethod: method,
    headers: headers.last,
    multiValueHeaders: headers.all,
    queryStringParameters: parameters.last,
    multiValueQueryStringParameters: parameters.all,
    pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null,
    stageVariables: null,
    requestContext: {
      requestId,
      extendedRequestId,
      requestTime,
      stage,
      resourcePath: route.path,
      path: `/${stage}${path}`,
      httpMethod: method,
      domainName: message.headers.host,
      protocol: `HTTP/${message.httpVersion}`,
      identity: { sourceIp: context["identity.sourceIp"], userAgent: message.headers["user-agent"] ?? null },
      authorizer: caller,
    },
    body: body.length > 0 ? body.toString(isBase64Encoded ? "base64" : "utf8") : null,
    isBase64Encoded,
  };
}
