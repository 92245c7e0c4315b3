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
type Middleware = middy.MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context, Internal>;
type Hook = middy.MiddlewareFn<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context, Internal>;

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

/**
 * Logs a line for each 5xx, when the response is final. API Gateway's access log has the requests. Lambda's JSON log
 * format adds the level, the time and the id of the invocation. No line has a key, a body or the value of a header, but for
 * the `requestId`, which a client can choose.
 */
function logFailures(operation: Operation, now: () => number): Middleware {
  return {
    before: ({ internal }) => {
      internal.start = now();
    },
    onError: ({ event, response, error, internal }) => {
      if (!response || response.statusCode < 500) return;
      console.error({
        operation: operation.id,
        status: response.statusCode,
        version: process.env.AWS_LAMBDA_FUNCTION_VERSION,
        keyId: contextOf(event).keyId,
        apiRequestId: event.requestContext.requestId,
        extendedRequestId: event.requestContext.extendedRequestId,
        latencyMs: now() - internal.start,
        error: describeError(error),
      });
    },
  };
}

/** Adds the deprecation headers to every response, and refuses the operation from its sunset on (contract 5.3, 5.4). */
function enforceDeprecation(
  { since, sunset, successor }: NonNullable<Operation["deprecation"]>,
  now: () => number,
): Middleware {
  const announce: Hook = ({ event, response }) => {
    const { headers = {} } = response ?? {};
    const links = [headers.Link, linkHeader(event, "successor-version", successor)]; // RFC 5829
    Object.assign(headers, {
      Deprecation: `@${since.getTime() / 1000}`, // RFC 9745
      Sunset: sunset.toUTCString(), // RFC 8594
      Link: links.filter(Boolean).join(", "), // a list (RFC 8288, 3)
    });
  };
  return {
    before: () => {
      if (now() >= sunset.getTime()) throw new ApiError("gone");
    },
    after: announce,
    onError: announce,
  };
}

/** Refuses a caller whose key does not have the scope of the operation (contract 6.3). */
function requireScope(operation: Operation): Middleware {
  const scope = scopeOf(operation);
  return {
    before: ({ event }) => {
      if (!callerOf(event).scopes.includes(scope)) throw new ApiError("forbidden");
    },
  };
}

/** Turns any thrown error into an Error response. Details that the client must not see are only in the log. */
function renderErrors(): Middleware {
  return {
    onError: (request) => {
      const { code, message } =
        request.error instanceof ApiError ? request.error : new ApiError("internal_error");
      const body = errorBody(code, message);
      request.response = respond(body.status, body, errorHeaders(code));
    },
  };
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
  // `after` and `onError` run from the last middleware to the first, so errors are rendered before the deprecation headers
  // are added and the line is logged.
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context, Internal>({
    timeoutEarlyInMillis: EARLY_RESPONSE_MS,
    timeoutEarlyResponse: () => {
      throw new ApiError("unavailable", { cause: new Error(`Timeout: no response within ${limitMs} ms.`) });
    },
  })
    .use(logFailures(operation, now))
    .use(operation.deprecation ? enforceDeprecation(operation.deprecation, now) : [])
    .use(renderErrors())
    .use(requireScope(operation))
    .handler(async (event: APIGatewayProxyEvent, context, { signal }) => {
      limitMs = context.getRemainingTimeInMillis() - EARLY_RESPONSE_MS;
      const content: Partial<Content<unknown>> =
        (await run({ ...readRequest(operation, event), signal })) ?? {};
      return respond(operation.success.status, content.body, content.headers);
    });
}
