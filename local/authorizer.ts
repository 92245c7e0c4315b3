import { randomUUID } from "node:crypto";
import type { APIGatewayAuthorizerResult } from "aws-lambda";
import type { LocalStack } from "../infra/assembly/template.ts";
import type { RequestContext } from "./access-log.ts";
import type { FunctionPool } from "./function-pool.ts";
import { Refusal } from "./refusal.ts";
import type { LocalRequest } from "./request.ts";

const API_ARN = "arn:aws:execute-api:local:000000000000:local";

type Policy = APIGatewayAuthorizerResult["policyDocument"];

/** A TOKEN authorizer as API Gateway runs it: pattern first, then the cache, then the function. */
export class TokenAuthorizer {
  readonly #settings: LocalStack["authorizer"];
  readonly #pool: FunctionPool;
  readonly #cache = new Map<string, { result: APIGatewayAuthorizerResult; expiresAt: number }>();

  constructor(settings: LocalStack["authorizer"], pool: FunctionPool) {
    this.#settings = settings;
    this.#pool = pool;
  }

  /**
   * @returns the authorizer's context, for the integration
   * @throws Refusal when the caller is denied or the authorizer fails
   */
  async authorize({ message, method, path }: LocalRequest, context: RequestContext) {
    const token = message.headers.authorization;
    if (!token || !this.#settings.pattern.test(token)) throw new Refusal("UNAUTHORIZED");
    const methodArn = `${API_ARN}/${context.stage}/${method}${path}`;
    const result = this.#cached(token) ?? (await this.#invoke(token, methodArn, context));
    context["authorizer.keyId"] = result.context?.keyId;
    if (!allows(result.policyDocument, methodArn)) throw new Refusal("ACCESS_DENIED");
    return { ...result.context, principalId: result.principalId };
  }

  #cached(token: string): APIGatewayAuthorizerResult | undefined {
    const now = Date.now();
    // The oldest come first, and all expire after the same time.
    for (const [key, { expiresAt }] of this.#cache) {
      if (expiresAt > now) break;
      this.#cache.delete(key);
    }
    return this.#cache.get(token)?.result;
  }

  /** Caches the policy whether it allows or denies, but no error. */
  async #invoke(token: string, methodArn: string, context: RequestContext) {
    const start = performance.now();
    const requestId = randomUUID();
    context["authorizer.requestId"] = requestId;
    try {
      const event = JSON.stringify({ type: "TOKEN", authorizationToken: token, methodArn });
      const result = await this.#pool.invoke(event, requestId);
      if (!isAuthorizerResult(result)) throw new Error("The authorizer's result is not a policy.");
      const expiresAt = Date.now() + this.#settings.cacheSeconds * 1000;
      this.#cache.set(token, { result, expiresAt });
      return result;
    } catch (error) {
      const { message } = error as Error;
      context["authorizer.error"] = message;
      // API Gateway treats only this message as a refusal of the caller.
      throw new Refusal(message === "Unauthorized" ? "UNAUTHORIZED" : "AUTHORIZER_CONFIGURATION_ERROR");
    } finally {
      context["authorizer.latency"] = Math.round(performance.now() - start);
    }
  }
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
