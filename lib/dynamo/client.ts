import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  DynamoDBServiceException,
} from "@aws-sdk/client-dynamodb";
import { ApiError } from "../errors.ts";

/** An item in DynamoDB's own attribute format. */
export type Item = Record<string, AttributeValue>;

// Three attempts of at most one second, and the pauses between them, end well before a function's own timeout
// (infra/api-function.ts). DynamoDB usually responds within 10 ms.
export const ATTEMPTS = 3;
export const TIMEOUT_MS = 1000;

/** Returns the settings of a client that waits so long for each step of a call, but not for a response that keeps arriving. */
export const timeouts = (ms: number) => ({
  connectionTimeout: ms,
  requestTimeout: ms,
  socketTimeout: ms,
  throwOnRequestTimeout: true,
});

/**
 * Returns whether a failure is temporary: throttling, a timeout, a lost connection, a response that cannot be read, or a 5xx
 * from DynamoDB. Every other error that DynamoDB names is a mistake of this service or its permissions.
 */
const isTransient = (error: Error) =>
  !(error instanceof DynamoDBServiceException) ||
  (error.$metadata.httpStatusCode ?? 0) >= 500 ||
  error.$retryable !== undefined ||
  /^Unknown$|Throttl|ThroughputExceeded|LimitExceeded/.test(error.name);

/**
 * Makes a DynamoDB client that throws the service's own errors: ApiError `unavailable` when a retry can succeed,
 * otherwise `internal_error`. DynamoDB's error is the cause. Only ConditionalCheckFailedException is thrown unchanged.
 *
 * @param config overrides the defaults, which are tuned for the functions
 */
export function dynamoClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const client = new DynamoDBClient({
    maxAttempts: ATTEMPTS,
    requestHandler: timeouts(TIMEOUT_MS),
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

/**
 * Returns the existing item for which the condition of a write failed, in DynamoDB's own attribute format (also with the
 * document client), or undefined when the write was done. A later read could find what others have written since.
 *
 * @param write what `send` returned for a command with `ReturnValuesOnConditionCheckFailure: "ALL_OLD"`
 * @throws ApiError `unavailable` when the condition failed and DynamoDB did not return the item
 */
export async function existingItem(write: Promise<unknown>): Promise<Item | undefined> {
  const failure = await conditionFailure(write);
  if (failure && !failure.Item) throw new ApiError("unavailable", { cause: failure });
  return failure?.Item;
}
