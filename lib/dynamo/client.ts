import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ApiError } from "../errors.ts";

// Three attempts of at most a second each, and the pauses between them, end well before a
// function's own timeout (infra/api-function.ts). DynamoDB usually answers within 10 ms.
const ATTEMPTS = 3;
const TIMEOUT_MS = 1000;

/** Failures that pass by themselves: throttling, time-outs, a lost connection, DynamoDB's own 5xx. */
function isTransient(error: {
  name?: string;
  $metadata?: { httpStatusCode?: number };
  $retryable?: unknown;
}): boolean {
  const status = error.$metadata?.httpStatusCode;
  return (
    status === undefined ||
    status >= 500 ||
    error.$retryable !== undefined ||
    /Throttl|ThroughputExceeded|LimitExceeded/.test(error.name ?? "")
  );
}

/**
 * Makes a client of DynamoDB whose failures are the service's own errors.
 *
 * Its commands throw ApiError `unavailable` when trying later may help, `internal_error` when not, with
 * DynamoDB's error as the cause; only a failed condition (ConditionalCheckFailedException) passes as it is.
 */
export function dynamoClient(): DynamoDBClient {
  const client = new DynamoDBClient({
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: TIMEOUT_MS,
      requestTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (cause) {
        if (cause instanceof ConditionalCheckFailedException) throw cause;
        throw new ApiError(isTransient(cause as Error) ? "unavailable" : "internal_error", { cause });
      }
    },
    { step: "initialize", name: "failures" },
  );
  return client;
}
