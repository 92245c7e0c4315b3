import { randomBytes, randomUUID } from "node:crypto";
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import type { APIGatewayProxyResult } from "aws-lambda";
import type { Invoke } from "../functions.ts";
import type { HttpResponse, MockIntegration } from "../template/rest-api.ts";
import type { StackDefinition } from "../template/template.ts";
import { createAuthorizer } from "./authorizer.ts";
import { proxyEvent, type RequestContext } from "./event.ts";
import { GatewayError, readBody, readTarget } from "./request.ts";
import { createRouter } from "./router.ts";

/** What a line of the log can have of a request and its response. */
export interface HandledRequest {
  method: string;
  /** as the client sent it */
  url: string;
  status: number;
  body: string;
  durationMs: number;
  /** what the authorizer said about the caller */
  caller: Record<string, unknown>;
}

/**
 * Serves a stack's REST API. The README of `tools/emulator/` lists what it imitates of API Gateway.
 *
 * @param invoke runs a function
 * @param onRequest receives every request when its response is sent
 */
export function createGateway(
  stack: StackDefinition,
  invoke: Invoke,
  onRequest: (request: HandledRequest) => void,
): RequestListener {
  const route = createRouter(stack.routes);
  const authorize = createAuthorizer(stack.authorizer, invoke);

  const gatewayResponse = (type: string): HttpResponse => {
    const response = stack.gatewayResponses[type];
    if (!response) throw new Error(`The template has no gateway response ${type}.`);
    return response;
  };

  async function respond(message: IncomingMessage, context: RequestContext): Promise<HttpResponse> {
    const request = readTarget(message, stack.apiStageName);
    const match = route(request.method, request.path);
    if (!match) throw new GatewayError("MISSING_AUTHENTICATION_TOKEN");
    const { integration, requiresAuthorization } = match.route;
    if (requiresAuthorization) await authorize(request, context);
    const body = await readBody(message);
    if (integration.type === "MOCK") return respondFromMock(integration, message.headers["content-type"]);
    const event = proxyEvent({ ...request, body }, match, context);
    return toResponse(await invoke(integration.functionName, event).catch(() => undefined));
  }

  return async (message, response) => {
    const start = performance.now();
    const { method = "", url = "" } = message;
    const context: RequestContext = {
      requestId: randomUUID(),
      extendedRequestId: `${randomBytes(11).toString("base64url")}=`,
      stage: stack.apiStageName,
      authorizer: {},
    };
    const answer = (result: HttpResponse) => {
      send(response, result, context);
      return result;
    };
    const result = await respond(message, context)
      .then(answer)
      .catch((error: unknown) => {
        if (error instanceof GatewayError) return answer(gatewayResponse(error.message));
        console.error(error);
        return answer(gatewayResponse("DEFAULT_5XX"));
      });
    const durationMs = Math.round(performance.now() - start);
    onRequest({ method, url, ...result, durationMs, caller: context.authorizer });
  };
}

/**
 * A mock integration with the passthrough behavior NEVER: the request's media type selects a request template.
 *
 * @throws GatewayError when there is no template for the type
 */
function respondFromMock({ mediaTypes, response }: MockIntegration, contentType = "application/json") {
  const [mediaType = ""] = contentType.split(";");
  if (!mediaTypes.includes(mediaType.trim().toLowerCase())) throw new GatewayError("UNSUPPORTED_MEDIA_TYPE");
  return response;
}

/**
 * The response of a Lambda proxy integration. A function that throws is INTEGRATION_FAILURE in API Gateway's recorded access
 * logs (DataBiosphere/azul#6624, #8258). An invalid result is assumed to be one, too.
 */
function toResponse(result: unknown): HttpResponse {
  const { statusCode, headers, body } = (result ?? {}) as Partial<APIGatewayProxyResult>;
  if (!/^[2-5]\d\d$/.test(String(statusCode)) || typeof body !== "string")
    throw new GatewayError("INTEGRATION_FAILURE");
  return { status: Number(statusCode), headers: (headers ?? {}) as Record<string, string>, body };
}

function send(
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  context: RequestContext,
): void {
  response.writeHead(status, STATUS_CODES[status], {
    "Content-Type": "application/json", // which API Gateway adds to a 204, too
    ...(status !== 204 && { "Content-Length": Buffer.byteLength(body) }), // RFC 9110, 8.6
    "x-amzn-RequestId": context.requestId,
    "x-amz-apigw-id": context.extendedRequestId,
    ...headers,
  });
  if (response.req.complete) return void response.end(body);
  // The client still sends. If the connection closed now, the client would lose the response.
  response.write(body);
  response.req.on("close", () => response.end()).resume();
}
