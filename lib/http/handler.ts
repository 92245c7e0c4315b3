import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { z } from "zod/mini";
import { callerOf, contextOf } from "../caller.ts";
import { ApiError, errorBody, errorHeaders } from "../errors.ts";
import { describeError } from "../log.ts";
import { type Operation, scopeOf } from "../operation.ts";
import { EARLY_RESPONSE_MS } from "../time-limits.ts";
import { stringifyJson } from "./json.ts";
import { linkHeader } from "./link-header.ts";
import { type ApiRequest, readRequest } from "./request.ts";

interface Content<Body> {
  headers?: Record<string, string>;
  body: Body;
}

/** A successful response, whose status the operation decides. A success without a body is nothing. */
type ApiResponse<O extends Operation> = O["success"] extends { body: infer Body extends z.ZodMiniType }
  ? Promise<Content<z.output<Body>>>
  : Promise<void>;

type Internal = { start: number };
type Request = middy.Request<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context, Internal>;

const respond = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): APIGatewayProxyResult => ({
  statusCode: status,
  headers: {
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    "Cache-Control": "no-store",
    ...headers,
  },
  body: body === undefined ? "" : stringifyJson(body),
});

/** Refuses a caller whose key does not have the scope of the operation (contract 6.3). */
function requireScope(operation: Operation, { event }: Request): void {
  if (!callerOf(event).scopes.includes(scopeOf(operation))) throw new ApiError("forbidden");
}

/** Turns any thrown error into an Error response. Details that the client must not see are only in the log. */
function renderError(request: Request): void {
  const { code, message } =
    request.error instanceof ApiError ? request.error : new ApiError("internal_error");
  const body = errorBody(code, message);
  request.response = respond(body.status, body, errorHeaders(code));
}

/** Adds the deprecation headers to a response (contract 5.4). */
function announceEnd({ deprecation }: Operation, { event, response }: Request): void {
  const { headers } = response ?? {};
  if (!deprecation || !headers) return;
  const { since, sunset, successor } = deprecation;
  const links = [headers.Link, linkHeader(event, "successor-version", successor)]; // RFC 5829
  Object.assign(headers, {
    Deprecation: `@${since.getTime() / 1000}`, // RFC 9745
    Sunset: sunset.toUTCString(), // RFC 8594
    Link: links.filter(Boolean).join(", "), // a list (RFC 8288, 3)
  });
}

/**
 * Logs a line for a 5xx. API Gateway's access log has the requests. Lambda's JSON log format adds the level, the time and the
 * id of the invocation. No line has a key, a body or the value of a header, but for the `requestId`, which a client can choose.
 */
function logFailure(operation: Operation, { event, response, error }: Request, latencyMs: number): void {
  if (!response || response.statusCode < 500) return;
  console.error({
    operation: operation.id,
    status: response.statusCode,
    version: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    keyId: contextOf(event).keyId,
    apiRequestId: event.requestContext.requestId,
    extendedRequestId: event.requestContext.extendedRequestId,
    latencyMs,
    error: describeError(error),
  });
}

/**
 * Makes the Lambda function of an operation: it validates the request, renders errors and logs failures.
 *
 * @param run handles a valid request, and returns nothing for a 204; throws ApiError for what the client should see.
 *   `signal` aborts when the function gives up and responds. Lambda then freezes what is under way, and can continue it
 *   hours later
 * @param now the clock, in milliseconds since 1970
 * @returns a handler for API Gateway's REST proxy integration; it never rejects
 */
export function createHandler<const O extends Operation>(
  operation: O,
  run: (request: ApiRequest<O> & { signal: AbortSignal }) => ApiResponse<O>,
  now: () => number = Date.now,
): (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult> {
  let limitMs: number; // of the event: an instance on Lambda handles one at a time
  const { deprecation, success } = operation;
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context, Internal>({
    timeoutEarlyInMillis: EARLY_RESPONSE_MS,
    timeoutEarlyResponse: () => {
      throw new ApiError("unavailable", { cause: new Error(`Timeout: no response within ${limitMs} ms.`) });
    },
  })
    .before((request) => {
      request.internal.start = now();
      if (deprecation && now() >= deprecation.sunset.getTime()) throw new ApiError("gone"); // contract 5.3
      requireScope(operation, request);
    })
    .after((request) => announceEnd(operation, request))
    .onError((request) => {
      renderError(request);
      announceEnd(operation, request);
      logFailure(operation, request, now() - request.internal.start);
    })
    .handler(async (event: APIGatewayProxyEvent, context, { signal }) => {
      limitMs = context.getRemainingTimeInMillis() - EARLY_RESPONSE_MS;
      const content: Partial<Content<unknown>> =
        (await run({ ...readRequest(operation, event), signal })) ?? {};
      return respond(success.status, content.body, content.headers);
    });
}
