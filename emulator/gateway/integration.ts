import { randomUUID } from "node:crypto";
import type { APIGatewayProxyResult } from "aws-lambda";
import { FunctionError } from "../lambda/instance.ts";
import type { FunctionPool } from "../lambda/pool.ts";
import type { HttpResponse, MockIntegration } from "../template/rest-api.ts";
import { refuse, type Step } from "./context.ts";

/** API Gateway's limit for an integration; it includes the wait for an instance. */
const INTEGRATION_TIMEOUT_MS = 29_000;

/**
 * A mock integration with the passthrough behavior NEVER: the request's media type selects a request template.
 *
 * @returns the response; or the refusal UNSUPPORTED_MEDIA_TYPE when there is no template for the type
 */
export function respondFromMock(
  integration: MockIntegration,
  contentType = "application/json",
): Step<HttpResponse> {
  const [mediaType = ""] = contentType.split(";");
  if (!integration.mediaTypes.includes(mediaType.trim().toLowerCase())) {
    return refuse("UNSUPPORTED_MEDIA_TYPE");
  }
  return { value: integration.response, variables: {} };
}

/**
 * A Lambda proxy integration. A function that throws, crashes or exceeds its timeout is INTEGRATION_FAILURE in API
 * Gateway's recorded access logs (DataBiosphere/azul#6624, #8192), where `integrationStatus` is Lambda's own status and
 * `status` the one that the function returned. An invalid result is assumed to be one too.
 *
 * @param event JSON
 * @returns the function's response; or the refusal INTEGRATION_TIMEOUT, or INTEGRATION_FAILURE
 */
export async function respondFromProxy(pool: FunctionPool, event: string): Promise<Step<HttpResponse>> {
  const start = performance.now();
  const requestId = randomUUID();
  const invocation = pool.invoke(event, requestId).then(toStep, refuseFailure);
  const ended = invocation.then((result) => ({
    ...result,
    variables: {
      "integration.requestId": requestId,
      "integration.integrationStatus": 200,
      "integration.status": "value" in result ? result.value.status : undefined,
    },
  }));
  const { promise: timeout, resolve } = Promise.withResolvers<Step<HttpResponse>>();
  const timer = setTimeout(() => resolve(refuse("INTEGRATION_TIMEOUT")), INTEGRATION_TIMEOUT_MS);
  const { variables, ...step } = await Promise.race([ended, timeout]).finally(() => clearTimeout(timer));
  const integrationLatency = Math.round(performance.now() - start);
  return { ...step, variables: { ...variables, integrationLatency } };
}

/** The function's log already says why the invocation failed. */
function refuseFailure(error: unknown): Step<never> {
  if (!(error instanceof FunctionError)) throw error;
  return refuse("INTEGRATION_FAILURE");
}

function toStep(result: unknown): Step<HttpResponse> {
  const { statusCode, headers, body } = (result ?? {}) as Partial<APIGatewayProxyResult>;
  if (!Number.isInteger(statusCode) || typeof body !== "string") return refuse("INTEGRATION_FAILURE");
  const value = { status: Number(statusCode), headers: (headers ?? {}) as Record<string, string>, body };
  return { value, variables: {} };
}
