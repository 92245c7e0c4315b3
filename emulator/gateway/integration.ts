import { randomUUID } from "node:crypto";
import type { APIGatewayProxyResult } from "aws-lambda";
import type { HttpResponse, MockIntegration } from "../template/rest-api.ts";
import type { RequestContext } from "./context.ts";
import { GatewayError } from "./responses.ts";

/**
 * Runs a function once.
 *
 * @param functionName its logical id
 * @param event JSON
 * @param requestId of the invocation
 * @returns its result; rejects with an Error with the message of the function's own error when it failed
 */
export type Invoke = (functionName: string, event: string, requestId: string) => Promise<unknown>;

/** API Gateway's limit for an integration; it includes the wait for an instance. */
const INTEGRATION_TIMEOUT_MS = 29_000;

/**
 * A mock integration with the passthrough behavior NEVER: the request's media type selects a request template.
 *
 * @throws GatewayError when there is no template for the type
 */
export function respondFromMock(
  integration: MockIntegration,
  contentType = "application/json",
): HttpResponse {
  const [mediaType = ""] = contentType.split(";");
  if (!integration.mediaTypes.includes(mediaType.trim().toLowerCase()))
    throw new GatewayError("UNSUPPORTED_MEDIA_TYPE");
  return integration.response;
}

/**
 * A Lambda proxy integration. A function that throws or crashes is INTEGRATION_FAILURE in API Gateway's recorded access
 * logs (DataBiosphere/azul#6624, #8258). One that exceeds its timeout, and an invalid result, are assumed to be one too.
 * `integrationStatus` is Lambda's own status (#8192).
 *
 * @param invoke runs the function with the event
 * @throws GatewayError when the function failed or took too long
 */
export async function respondFromProxy(
  invoke: (requestId: string) => Promise<unknown>,
  context: RequestContext,
): Promise<HttpResponse> {
  const start = performance.now();
  const requestId = randomUUID();
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new GatewayError("INTEGRATION_TIMEOUT")), INTEGRATION_TIMEOUT_MS);
  try {
    // The function's log already says why an invocation failed.
    const result = await Promise.race([invoke(requestId).catch(() => undefined), timeout]);
    context["integration.requestId"] = requestId;
    context["integration.integrationStatus"] = 200;
    return toResponse(result);
  } finally {
    clearTimeout(timer);
    context.integrationLatency = Math.round(performance.now() - start);
  }
}

function toResponse(result: unknown): HttpResponse {
  const { statusCode, headers, body } = (result ?? {}) as Partial<APIGatewayProxyResult>;
  if (!Number.isInteger(statusCode) || typeof body !== "string")
    throw new GatewayError("INTEGRATION_FAILURE");
  return { status: Number(statusCode), headers: (headers ?? {}) as Record<string, string>, body };
}
