import { randomUUID } from "node:crypto";
import type { APIGatewayAuthorizerResult } from "aws-lambda";
import type { FunctionPool } from "../lambda/pool.ts";
import type { RestApiDefinition } from "../template/rest-api.ts";
import { type ContextVariables, type RequestContext, refuse, type Step } from "./context.ts";
import type { LocalRequest } from "./receive.ts";

/** The most policies that are cached. A token can have 10 KB. */
const CACHE_SIZE = 1000;

const API_ARN = "arn:aws:execute-api:local:000000000000:local";

type Policy = APIGatewayAuthorizerResult["policyDocument"];
/** What the integration learns about the caller. */
export type AuthorizerContext = Record<string, unknown>;

/**
 * A TOKEN authorizer as API Gateway runs it: pattern first, then the cache, then the function.
 *
 * @returns a function that returns the authorizer's context, for the integration; or why the caller is refused
 */
export function createAuthorizer(
  { pattern, cacheSeconds }: RestApiDefinition["authorizer"],
  pool: FunctionPool,
): (request: LocalRequest, context: RequestContext) => Promise<Step<AuthorizerContext>> {
  const cache = new Map<string, { result: APIGatewayAuthorizerResult; expiresAt: number }>();

  function store(token: string, result: APIGatewayAuthorizerResult): void {
    // A clock that is set back must not prolong a policy.
    const expiresAt = performance.now() + cacheSeconds * 1000;
    cache.delete(token); // the oldest come first
    cache.set(token, { result, expiresAt });
    const [oldest = ""] = cache.keys();
    if (cache.size > CACHE_SIZE) cache.delete(oldest);
  }

  /** Invokes the function. Caches its policy, whether it allows or denies, but no error. */
  async function invoke(token: string, methodArn: string): Promise<Step<APIGatewayAuthorizerResult>> {
    const start = performance.now();
    const requestId = randomUUID();
    const variables = (): ContextVariables => ({
      "authorizer.requestId": requestId,
      "authorizer.latency": Math.round(performance.now() - start),
    });
    try {
      const event = JSON.stringify({ type: "TOKEN", authorizationToken: token, methodArn });
      const result = await pool.invoke(event, requestId);
      if (!isAuthorizerResult(result)) throw new Error("The authorizer's result is not a policy.");
      store(token, result);
      return { value: result, variables: variables() };
    } catch (error) {
      const { message } = error as Error;
      // API Gateway treats only this message as a refusal of the caller.
      const type = message === "Unauthorized" ? "UNAUTHORIZED" : "AUTHORIZER_CONFIGURATION_ERROR";
      return refuse(type, { ...variables(), "authorizer.error": message });
    }
  }

  return async ({ message, method, path }, { stage }) => {
    // Repeated headers are combined (RFC 9110, 5.3), and then are no key.
    const token = message.headersDistinct.authorization?.join(", ");
    if (!token || !pattern.test(token)) return refuse("UNAUTHORIZED");
    const methodArn = `${API_ARN}/${stage}/${method}${path}`;
    const cached = cache.get(token);
    const step =
      cached && cached.expiresAt > performance.now()
        ? { value: cached.result, variables: {} }
        : await invoke(token, methodArn);
    if ("refusal" in step) return step;
    const { policyDocument, context, principalId } = step.value;
    const variables = {
      ...step.variables,
      "authorizer.keyId": context?.keyId,
      "authorizer.check": context?.check,
    };
    if (!allows(policyDocument, methodArn)) return refuse("ACCESS_DENIED", variables);
    return { value: { ...context, principalId }, variables };
  };
}

/** Whether API Gateway accepts a result: a principal, a policy, and a context without objects. */
function isAuthorizerResult(result: unknown): result is APIGatewayAuthorizerResult {
  const { principalId, policyDocument, context } = (result ?? {}) as Partial<APIGatewayAuthorizerResult>;
  return (
    typeof principalId === "string" &&
    Array.isArray(policyDocument?.Statement) &&
    policyDocument.Statement.every(({ Effect }) => Effect === "Allow" || Effect === "Deny") &&
    Object.values(context ?? {}).every((value) => ["string", "number", "boolean"].includes(typeof value))
  );
}

function allows({ Statement }: Policy, methodArn: string): boolean {
  const effects = Statement.flatMap((statement) =>
    "Resource" in statement && covers(statement.Resource, methodArn) ? [statement.Effect] : [],
  );
  return effects.includes("Allow") && !effects.includes("Deny");
}

/** Whether a policy's resource, in which `*` matches any text, covers a method. */
function covers(resource: string | string[] | undefined, methodArn: string): boolean {
  return [resource ?? []].flat().some((pattern) => {
    const parts = pattern.split("*").map((part) => RegExp.escape(part));
    return new RegExp(`^${parts.join(".*")}$`).test(methodArn);
  });
}
