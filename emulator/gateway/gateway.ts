import type { IncomingMessage, RequestListener } from "node:http";
import type { HttpResponse } from "../template/rest-api.ts";
import type { StackDefinition } from "../template/template.ts";
import { createAuthorizer } from "./authorizer.ts";
import { type RequestContext, requestContext } from "./context.ts";
import { proxyEvent } from "./event.ts";
import { type Invoke, respondFromMock, respondFromProxy } from "./integration.ts";
import { readBody, readTarget } from "./request.ts";
import { GatewayError, send } from "./responses.ts";
import { createRouter } from "./router.ts";

export interface HandledRequest {
  variables: Partial<RequestContext>;
  /** as the client sent it */
  url: string;
  /** of the response */
  body: string;
}

export interface GatewayOptions {
  invoke: Invoke;
  /** receives every request when its response is sent, and the format of the access log */
  onRequest: (request: HandledRequest, accessLogFormat: string) => void;
  /** receives what fails in the gateway itself, which is a DEFAULT_5XX */
  onFailure: (error: unknown) => void;
}

/** Serves a stack's REST API. The README of `emulator/` lists what it imitates of API Gateway. */
export function createGateway(
  stack: StackDefinition,
  { invoke, onRequest, onFailure }: GatewayOptions,
): RequestListener {
  const route = createRouter(stack.routes);
  const authorize = createAuthorizer(stack.authorizer, invoke);

  async function respond(message: IncomingMessage, context: RequestContext): Promise<HttpResponse> {
    const request = readTarget(message, stack.apiStageName);
    const match = route(request.method, request.path);
    if (!match) throw new GatewayError("MISSING_AUTHENTICATION_TOKEN");
    const { integration, requiresAuthorization, path } = match.route;
    context.resourcePath = path;
    const caller = requiresAuthorization ? await authorize(request, context) : {};
    const body = await readBody(message);
    if (integration.type === "MOCK") return respondFromMock(integration, message.headers["content-type"]);
    const event = JSON.stringify(proxyEvent({ ...request, body }, match, context, caller));
    return respondFromProxy((requestId) => invoke(integration.functionName, event, requestId), context);
  }

  return async (message, response) => {
    const start = performance.now();
    const context = requestContext(message, stack.apiStageName);
    const result = await respond(message, context).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) onFailure(error);
      const type = error instanceof GatewayError ? error.message : "DEFAULT_5XX";
      context["error.responseType"] = type;
      return stack.gatewayResponses[type];
    });
    send(response, result, context);
    context.status = result.status;
    context.responseLatency = Math.round(performance.now() - start);
    onRequest({ url: message.url ?? "", body: result.body, variables: context }, stack.accessLogFormat);
  };
}
