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
 * Returns whether a failure is temporary: throttling, a timeout, a lost connection, a response that cannot be read, or a 5xx
 * from DynamoDB. Every other error that DynamoDB names is a mistake of this service or its permissions. An error before
 * the first attempt is one, too, such as a value that cannot be stored: only an error of an attempt has `$metadata`.
 */
const isTransient = (error: Error) =>
  error instanceof DynamoDBServiceException
    ? (error.$metadata.httpStatusCode ?? 0) >= 500 ||
      error.$retryable !== undefined ||
      /^Unknown$|Throttl|ThroughputExceeded|LimitExceeded/.test(error.name)
    : "$metadata" in error;

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
