import type { APIGatewayProxyEvent } from "aws-lambda";
import type { ApiKeyRecord } from "./api-key.ts";

// What the authorizer says about the caller of a request. API Gateway passes it on to the function of the operation and to
// the access log. The functions are not deployed at once, and API Gateway caches what an earlier version said: never
// change the meaning of a field.

/** The authorizer's context. API Gateway allows only texts, numbers and booleans in it. */
type CallerContext = {
  /** the public id of the key, or `unknown` for a key that is not stored */
  keyId: string;
  /** what the key can do, separated by spaces */
  scopes: string;
};

/** Returns what the authorizer says about a key. @param record undefined if it is not stored */
export const callerContext = (record?: ApiKeyRecord): CallerContext => ({
  keyId: record?.keyId ?? "unknown",
  scopes: record?.scopes.join(" ") ?? "",
});

/** Returns the name by which API Gateway's `$context` has a field. */
export const contextVariable = (field: keyof CallerContext) => `authorizer.${field}` as const;

/** Returns what the authorizer has said, field by field; nothing if the request has not passed it. */
export const contextOf = ({ requestContext }: APIGatewayProxyEvent): Partial<CallerContext> =>
  requestContext.authorizer ?? {};

/**
 * Returns the caller as the authorizer has identified it.
 *
 * @throws Error when no authorizer has identified a caller, which is a fault of the deployment: without an id, all callers
 *   would share their Idempotency-Keys
 */
export function callerOf(event: APIGatewayProxyEvent): { keyId: string; scopes: string[] } {
  const { keyId, scopes } = contextOf(event);
  if (!keyId) throw new Error("The authorizer did not send a keyId.");
  return { keyId: String(keyId), scopes: String(scopes).split(" ") };
}
