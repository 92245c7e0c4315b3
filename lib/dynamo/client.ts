import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  DynamoDBServiceException,
} from "@aws-sdk/client-dynamodb";
import { ApiError } from "../errors.ts";
import { ATTEMPT_MS, ATTEMPTS } from "../time-limits.ts";

/** An item in DynamoDB's own attribute format. */
export type Item = Record<string, AttributeValue>;

/** Returns the settings of a client that limits each step of a call, but not a response that keeps arriving. */
export const timeouts = (ms: number) => ({
  connectionTimeout: ms,
  requestTimeout: ms,
  socketTimeout: ms,
  throwOnRequestTimeout: true,
});

/**
 * Returns whether a failure is temporary: throttling, a timeout, a lost connection, an unreadable response, or a 5xx of
 * DynamoDB. Others are mistakes of this service or its permissions: what DynamoDB names, what fails before an attempt adds
 * `$metadata`, such as a value that cannot be stored, and a stored value that cannot be read, which has no `$response`.
 */
const isTransient = (error: Error) =>
  error instanceof DynamoDBServiceException
    ? (error.$metadata.httpStatusCode ?? 0) >= 500 ||
      error.$retryable !== undefined ||
      /^Unknown$|Throttl|ThroughputExceeded|LimitExceeded/.test(error.name)
    : "$metadata" in error && (error.name !== "SyntaxError" || "$response" in error);

/**
 * Makes a DynamoDB client that throws the service's own errors: ApiError `unavailable` when a retry can succeed,
 * otherwise `internal_error`. DynamoDB's error is the cause. Only ConditionalCheckFailedException is thrown unchanged.
 *
 * @param config overrides the defaults, which are tuned for the functions
 */
export function dynamoClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const client = new DynamoDBClient({
    maxAttempts: ATTEMPTS,
    requestHandler: timeouts(ATTEMPT_MS),
    ...config,
  });
  client.middlewareStack.add((next) => async (args) => {
    try {
      return await next(args);
    } catch (cause) {
      if (cause instanceof ConditionalCheckFailedException) throw cause;
      throw new ApiError(isTransient(cause as Error) ? "unavailable" : "internal_error", { cause });
    }
  });
  return client;
}

/** Returns why the condition of a write failed, or undefined when the write was done. @param write what `send` returned */
export async function conditionFailure(
  write: Promise<unknown>,
): Promise<ConditionalCheckFailedException | undefined> {
  try {
    await write;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return error;
    throw error;
  }
}
