import type { ServerResponse } from "node:http";
import type { FunctionPool } from "../lambda/pool.ts";
import type { HttpResponse } from "../template/rest-api.ts";
import type { StackDefinition } from "../template/template.ts";
import { createAuthorizer } from "./authorizer.ts";
import { type ContextVariables, type RequestContext, refuse, requestContext, type Step } from "./context.ts";
import { proxyEvent } from "./event.ts";
import { respondFromMock, respondFromProxy } from "./integration.ts";
import { type LocalRequest, readTarget } from "./receive.ts";
import type { BufferedRequest } from "./request.ts";
import { createRouter, type RouteMatch } from "./router.ts";
import type { Listener } from "./server.ts";

/** A request that has its response. */
export interface HandledRequest {
  variables: ContextVariables;
  /** as the client sent it */
  url: string;
  /** the code of an Error response */
  errorCode: string | undefined;
}

/**
 * Serves a stack's REST API. It imitates what this API uses of API Gateway: routes, the TOKEN authorizer with its
 * cache, throttling, proxy and mock integrations, gateway responses and the access log.
 *
 * @param stack the template
 * @param functions by their names in the template
 * @param options.log receives every request when its response is sent
 * @param options.tryAcquire takes a token of the throttle; without it there is no limit
 * @throws Error when the template refers to a function that is missing
 */
export function createGateway(
  stack: StackDefinition,
  functions: Map<string, FunctionPool>,
  { log, tryAcquire }: { log: (request: HandledRequest) => void; tryAcquire?: () => boolean },
): Listener {
  const route = createRouter(stack.routes);
  const authorize = createAuthorizer(
    stack.authorizer,
    functionNamed(functions, stack.authorizer.functionName),
  );

  async function respond(message: BufferedRequest, context: RequestContext): Promise<Step<HttpResponse>> {
    const received = readTarget(message, stack.apiStageName);
    if ("refusal" in received) return received;
    const match = route(received.value.method, received.value.path);
    if (!match) return refuseUndefinedRoute(message.headers.authorization);
    const step = await callRoute(received.value, match, context);
    return { ...step, variables: { ...step.variables, resourcePath: match.route.path } };
  }

  async function callRoute(
    request: LocalRequest,
    match: RouteMatch,
    context: RequestContext,
  ): Promise<Step<HttpResponse>> {
    const { integration, requiresAuthorization } = match.route;
    if (tryAcquire && !tryAcquire()) return refuse("THROTTLED");
    const caller = requiresAuthorization ? await authorize(request, context) : { value: {}, variables: {} };
    if ("refusal" in caller) return caller;
    const body = await request.message.body;
    if ("refusal" in body) return refuse(body.refusal, caller.variables);
    const step =
      integration.type === "MOCK"
        ? respondFromMock(integration, request.message.headers["content-type"])
        : await respondFromProxy(
            functionNamed(functions, integration.functionName),
            JSON.stringify(proxyEvent(request, match, context, caller.value, body.value)),
          );
    return { ...step, variables: { ...caller.variables, ...step.variables } };
  }

  function gatewayResponse(type: string): HttpResponse {
    if (type === "REQUEST_TOO_LARGE") return TOO_LARGE;
    const response = stack.gatewayResponses.get(type);
    if (!response) throw new Error(`The template has no gateway response ${type}.`);
    return response;
  }

  return async (message, response) => {
    const start = performance.now();
    const context = requestContext(message, stack.apiStageName);
    const step = await respond(message, context).catch((error: unknown) => {
      console.error(error);
      return refuse("DEFAULT_5XX");
    });
    const result = "refusal" in step ? gatewayResponse(step.refusal) : step.value;
    send(response, result === TOO_LARGE ? undefined : context.requestId, result);
    message.discard();
    log({
      url: message.url ?? "",
      errorCode: result.status >= 400 ? errorCodeOf(result.body) : undefined,
      variables: {
        ...context,
        ...step.variables,
        ...("refusal" in step && { "error.responseType": step.refusal }),
        status: result.status,
        responseLatency: Math.round(performance.now() - start),
      },
    });
  };
}

/**
 * The response to a body over 10 MB. It has no x-amzn-RequestId, and the gateway response REQUEST_TOO_LARGE does not
 * change it (koki-develop/lgtm-generator#10, reapit/foundations#4338).
 */
const TOO_LARGE: HttpResponse = {
  status: 413,
  headers: { "Content-Type": "text; charset=utf-8" },
  body: "HTTP content length exceeded 10485760 bytes.",
};

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
function refuseUndefinedRoute(authorization: string | undefined): Step<HttpResponse> {
  if (!authorization) return refuse("MISSING_AUTHENTICATION_TOKEN");
  const part = authorization.slice(authorization.indexOf(" ") + 1);
  const message = `'${part}' not a valid key=value pair (missing equal-sign) in Authorization header: '${authorization}'.`;
  const value = {
    status: 403,
    headers: { "x-amzn-ErrorType": "IncompleteSignatureException" },
    body: JSON.stringify({ message }),
  };
  return { value, variables: {} };
}

function send(
  response: ServerResponse,
  requestId: string | undefined,
  { status, headers, body }: HttpResponse,
): void {
  response.writeHead(status, {
    // A 204 must not have a Content-Length (RFC 9110, 8.6).
    ...(status !== 204 && {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    }),
    ...(requestId && { "x-amzn-RequestId": requestId }),
    ...headers,
  });
  if (response.req.complete) return void response.end(body);
  // The client still sends. If the connection closed now, the client would lose the response.
  response.write(body);
  response.req.on("close", () => response.end());
}
