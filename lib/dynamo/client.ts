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

/** Returns whether a retry can succeed. All other failures are mistakes of this service or its permissions. */
function isTransient(error: Error) {
  // An attempt adds `$metadata`. What fails before it was not sent, such as a value that cannot be stored.
  if (!("$metadata" in error)) return false;
  // A response that was cut off is not JSON. Without `$response`, it is a stored value that cannot be read.
  if (error.name === "SyntaxError") return "$response" in error;
  if (!(error instanceof DynamoDBServiceException)) return true; // A timeout or a lost connection.
  if (error.$retryable || (error.$metadata.httpStatusCode ?? 0) >= 500) return true;
  // Throttling is a 400 with one of several names. A response that names no error is "Unknown".
  return /^Unknown$|Throttl|ThroughputExceeded|LimitExceeded/.test(error.name);
}

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
