import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { HttpResponse } from "../infra/assembly/rest-api.ts";
import type { LocalStack } from "../infra/assembly/template.ts";
import { newRequestContext, type RequestContext } from "./access-log.ts";
import { TokenAuthorizer } from "./authorizer.ts";
import type { FunctionPool } from "./function-pool.ts";
import { respondFromMock, respondFromProxy } from "./integration.ts";
import { FunctionError, Refusal } from "./refusal.ts";
import { receiveRequest } from "./request.ts";
import { createRouter } from "./router.ts";
import type { Throttle } from "./throttle.ts";

/**
 * Serves a stack's REST API. It imitates what this API uses of API Gateway: routes, the TOKEN authorizer with its
 * cache, throttling, proxy and mock integrations, gateway responses and the access log.
 *
 * @param stack the template
 * @param functions by their names in the template
 * @param options.log receives every request when its response is sent
 * @param options.throttle limits the rate of requests; without one there is no limit
 * @throws Error when the template refers to a function that is missing
 */
export function createGateway(
  stack: LocalStack,
  functions: Map<string, FunctionPool>,
  { log, throttle }: { log: (context: RequestContext) => void; throttle?: Throttle },
): RequestListener {
  const route = createRouter(stack.routes);
  const authorizer = new TokenAuthorizer(
    stack.authorizer,
    functionNamed(functions, stack.authorizer.functionName),
  );

  async function respond(message: IncomingMessage, context: RequestContext): Promise<HttpResponse> {
    const request = await receiveRequest(message, stack.stageName);
    const match = route(request.method, request.path);
    if (!match) return refuseUndefinedRoute(message.headers.authorization);
    const { integration, path, requiresAuthorization } = match.route;
    context.resourcePath = path;
    if (throttle && !throttle.tryAcquire()) throw new Refusal("THROTTLED");
    const caller = requiresAuthorization ? await authorizer.authorize(request, context) : {};
    if (integration.type === "MOCK") return respondFromMock(integration, message.headers["content-type"]);
    const pool = functionNamed(functions, integration.functionName);
    return respondFromProxy(pool, request, match, context, caller);
  }

  function responseOf(error: unknown, context: RequestContext): HttpResponse {
    const type = error instanceof Refusal ? error.type : "DEFAULT_5XX";
    // A FunctionError is already in the function's log.
    if (!(error instanceof Refusal || error instanceof FunctionError)) console.error(error);
    context["error.responseType"] = type;
    const response = stack.gatewayResponses.get(type);
    if (!response) throw new Error(`The template has no gateway response ${type}.`);
    return response;
  }

  return async (message, response) => {
    const start = performance.now();
    const context = newRequestContext(message, stack.stageName);
    const result = await respond(message, context).catch((error: unknown) => responseOf(error, context));
    send(message, response, context.requestId, result);
    context.status = result.status;
    context.responseLatency = Math.round(performance.now() - start);
    if (result.status >= 400) context.errorCode = errorCodeOf(result.body);
    log(context);
  };
}

function functionNamed(functions: Map<string, FunctionPool>, name: string): FunctionPool {
  const found = functions.get(name);
  if (!found) throw new Error(`The template has no function ${name}.`);
  return found;
}

function errorCodeOf(body: string): string | undefined {
  try {
    return JSON.parse(body).code;
  } catch {
    return undefined; // of a function that does not use the Error body
  }
}

/**
 * Without an Authorization header, the response to an undefined route is a gateway response. With one, API Gateway
 * reads the header as an AWS signature and sends a body of its own that repeats it (HumanCellAtlas/data-store#328).
 */
function refuseUndefinedRoute(authorization: string | undefined): HttpResponse {
  if (!authorization) throw new Refusal("MISSING_AUTHENTICATION_TOKEN");
  const part = authorization.slice(authorization.indexOf(" ") + 1);
  const message = `'${part}' not a valid key=value pair (missing equal-sign) in Authorization header: '${authorization}'.`;
  return {
    status: 403,
    headers: { "x-amzn-ErrorType": "IncompleteSignatureException" },
    body: JSON.stringify({ message }),
  };
}

function send(
  message: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  { status, headers, body }: HttpResponse,
): void {
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    "x-amzn-RequestId": requestId,
    // The rest of an unread body would be parsed as the next request.
    ...(message.complete ? {} : { Connection: "close" }),
    ...headers,
  });
  response.end(message.method === "HEAD" ? undefined : body);
}
