import { randomUUID } from "node:crypto";
import type { APIGatewayAuthorizerResult } from "aws-lambda";
import type { Authorizer } from "../template/rest-api.ts";
import type { RequestContext } from "./context.ts";
import type { Invoke } from "./integration.ts";
import type { LocalRequest } from "./request.ts";
import { GatewayError } from "./responses.ts";

/** The cache is cleared when it holds this many policies. A token can have 10 KB. */
export const CACHE_SIZE = 1000;

const API_ARN = "arn:aws:execute-api:local:000000000000:local";

/**
 * A TOKEN authorizer as API Gateway runs it: pattern first, then the cache, then the function.
 *
 * @returns a function that returns the authorizer's context, for the integration; it throws a GatewayError for a caller
 *   without access
 */
export function createAuthorizer({ functionName, pattern, cacheSeconds }: Authorizer, invoke: Invoke) {
  const cache = new Map<string, { result: APIGatewayAuthorizerResult; expiresAt: number }>();

  /** Invokes the function. Caches its policy, whether it allows or denies, but no error. */
  async function run(token: string, methodArn: string, context: RequestContext) {
    const start = performance.now();
    const requestId = randomUUID();
    try {
      const event = JSON.stringify({ type: "TOKEN", authorizationToken: token, methodArn });
      const result = (await invoke(functionName, event, requestId)) as APIGatewayAuthorizerResult;
      if (cache.size >= CACHE_SIZE) cache.clear();
      // A clock that is set back must not prolong a policy.
      cache.set(token, { result, expiresAt: performance.now() + cacheSeconds * 1000 });
      return result;
    } catch (error) {
      context["authorizer.error"] = (error as Error).message;
      throw new GatewayError("AUTHORIZER_CONFIGURATION_ERROR");
    } finally {
      context["authorizer.requestId"] = requestId;
      context["authorizer.latency"] = Math.round(performance.now() - start);
    }
  }

  return async ({ message, method, path }: LocalRequest, context: RequestContext) => {
    // Repeated headers are combined (RFC 9110, 5.3), which makes them an invalid key.
    const token = message.headersDistinct.authorization?.join(", ");
    if (!token || !pattern.test(token)) throw new GatewayError("UNAUTHORIZED");
    const methodArn = `${API_ARN}/${context.stage}/${method}${path}`;
    const cached = cache.get(token);
    const isFresh = cached && cached.expiresAt > performance.now();
    const result = isFresh ? cached.result : await run(token, methodArn, context);
    const caller = { ...result.context, principalId: result.principalId };
    for (const [name, value] of Object.entries(caller)) context[`authorizer.${name}`] ??= value;
    if (!allows(result.policyDocument, methodArn)) throw new GatewayError("ACCESS_DENIED");
    return caller;
  };
}

function allows({ Statement }: APIGatewayAuthorizerResult["policyDocument"], methodArn: string): boolean {
  const effects = Statement.flatMap((statement) => {
    const resources = "Resource" in statement ? [statement.Resource ?? []].flat() : [];
    // `*` matches any text.
    const patterns = resources.map((resource) => resource.split("*").map(RegExp.escape).join(".*"));
    return patterns.some((pattern) => new RegExp(`^${pattern}$`).test(methodArn)) ? [statement.Effect] : [];
  });
  return effects.includes("Allow") && !effects.includes("Deny");
}
