import { randomUUID } from "node:crypto";
import type { APIGatewayProxyResult } from "aws-lambda";
import type { HttpResponse, MockIntegration } from "../infra/assembly/rest-api.ts";
import type { RequestContext } from "./access-log.ts";
import { proxyEvent } from "./event.ts";
import type { FunctionPool } from "./function-pool.ts";
import { FunctionError, Refusal } from "./refusal.ts";
import type { LocalRequest } from "./request.ts";
import type { RouteMatch } from "./router.ts";

/** API Gateway's limit for an integration, in milliseconds; it includes the wait for an instance. */
const INTEGRATION_TIMEOUT = 29_000;

/**
 * A mock integration with the passthrough behavior NEVER: the request's media type selects a request template.
 *
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE when there is none for it
 */
export function respondFromMock(
  integration: MockIntegration,
  contentType = "application/json",
): HttpResponse {
  const [mediaType = ""] = contentType.split(";");
  if (!integration.mediaTypes.includes(mediaType.trim().toLowerCase())) {
    throw new Refusal("UNSUPPORTED_MEDIA_TYPE");
  }
  return integration.response;
}

/**
 * A Lambda proxy integration.
 *
 * @param caller the authorizer's context
 * @throws Refusal INTEGRATION_TIMEOUT, or FunctionError when the invocation fails or its result is no response
 */
export async function respondFromProxy(
  pool: FunctionPool,
  request: LocalRequest,
  match: RouteMatch,
  context: RequestContext,
  caller: Record<string, unknown>,
): Promise<HttpResponse> {
  const start = performance.now();
  const requestId = randomUUID();
  context["integration.requestId"] = requestId;
  try {
    const event = JSON.stringify(proxyEvent(request, match, context, caller));
    return toHttpResponse(await withTimeout(pool.invoke(event, requestId)));
  } finally {
    context["integration.status"] = 200;
    context.integrationLatency = Math.round(performance.now() - start);
    context["integration.latency"] = context.integrationLatency;
  }
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Refusal("INTEGRATION_TIMEOUT")), INTEGRATION_TIMEOUT);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

function toHttpResponse(result: unknown): HttpResponse {
  const { statusCode, headers, body } = (result ?? {}) as Partial<APIGatewayProxyResult>;
  if (!Number.isInteger(statusCode) || typeof body !== "string") {
    throw new FunctionError("The function's result is not an HTTP response.");
  }
  return { status: Number(statusCode), headers: (headers ?? {}) as Record<string, string>, body };
}
