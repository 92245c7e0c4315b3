import type { APIGatewayAuthorizerResult } from "aws-lambda";
import type { Invoke } from "../functions.ts";
import type { Authorizer } from "../template/rest-api.ts";
import type { RequestContext } from "./event.ts";
import { GatewayError, type LocalRequest } from "./request.ts";

const API_ARN = "arn:aws:execute-api:local:000000000000:local";

/**
 * A TOKEN authorizer as API Gateway runs it: pattern first, then the cache, then the function.
 *
 * @returns a function that sets the authorizer's context; it throws a GatewayError for a caller without access
 */
export function createAuthorizer({ functionName, pattern, cacheSeconds }: Authorizer, invoke: Invoke) {
  const cache = new Map<string, { result: APIGatewayAuthorizerResult; expiresAt: number }>();

  /** Invokes the function. Caches its policy, whether it allows or denies, but no error. */
  async function run(token: string, methodArn: string): Promise<APIGatewayAuthorizerResult> {
    const event = { type: "TOKEN", authorizationToken: token, methodArn };
    const result = (await invoke(functionName, event).catch(() => {
      throw new GatewayError("AUTHORIZER_CONFIGURATION_ERROR");
    })) as APIGatewayAuthorizerResult;
    // A clock that is set back must not prolong a policy.
    cache.set(token, { result, expiresAt: performance.now() + cacheSeconds * 1000 });
    return result;
  }

  return async ({ message, method, path }: LocalRequest, context: RequestContext): Promise<void> => {
    // Repeated headers are combined (RFC 9110, 5.3), which makes them an invalid key.
    const token = message.headersDistinct.authorization?.join(", ");
    if (!token || !pattern.test(token)) throw new GatewayError("UNAUTHORIZED");
    const methodArn = `${API_ARN}/${context.stage}/${method}${path}`;
    const cached = cache.get(token);
    const isFresh = cached && cached.expiresAt > performance.now();
    const result = isFresh ? cached.result : await run(token, methodArn);
    context.authorizer = { ...result.context, principalId: result.principalId };
    if (!allows(result.policyDocument, methodArn)) throw new GatewayError("ACCESS_DENIED");
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
