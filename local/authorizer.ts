import type { APIGatewayAuthorizerResult } from "aws-lambda";
import type { LocalStack } from "../infra/assembly/template.ts";
import { FunctionError, type FunctionPool } from "./function-pool.ts";

/** What the authorizer says of a caller, and the gateway response that ends the request unless it may go on. */
export interface Decision {
  context: Record<string, unknown>;
  refused?: string;
}

/** A TOKEN authorizer as API Gateway runs it: pattern first, then the cache, then the function. */
export class TokenAuthorizer {
  readonly #settings: LocalStack["authorizer"];
  readonly #pool: FunctionPool;
  readonly #cache = new Map<string, { result: APIGatewayAuthorizerResult; until: number }>();

  constructor(settings: LocalStack["authorizer"], pool: FunctionPool) {
    this.#settings = settings;
    this.#pool = pool;
  }

  /**
   * @param token the Authorization header, if there is one
   * @param methodArn which method of which API is called
   */
  async decide(token: string | undefined, methodArn: string): Promise<Decision> {
    if (!token || !this.#settings.pattern.test(token)) return { context: {}, refused: "UNAUTHORIZED" };
    try {
      const result = await this.#resultFor(token, methodArn);
      const effects = result.policyDocument.Statement.flatMap((statement) =>
        "Resource" in statement && matches(statement.Resource, methodArn) ? [statement.Effect] : [],
      );
      const allowed = effects.includes("Allow") && !effects.includes("Deny");
      const context = { ...result.context, principalId: result.principalId };
      return allowed ? { context } : { context, refused: "ACCESS_DENIED" };
    } catch (error) {
      const failed = error instanceof FunctionError;
      return { context: {}, refused: failed ? "AUTHORIZER_FAILURE" : "AUTHORIZER_CONFIGURATION_ERROR" };
    }
  }

  /** A policy is cached whether it allows or denies; after an error the function is asked again. */
  async #resultFor(token: string, methodArn: string): Promise<APIGatewayAuthorizerResult> {
    const now = Date.now();
    const cached = this.#cache.get(token);
    if (cached && cached.until > now) return cached.result;
    // The oldest come first, since all are kept equally long.
    for (const [key, { until }] of this.#cache) {
      if (until > now) break;
      this.#cache.delete(key);
    }

    const event = { type: "TOKEN", authorizationToken: token, methodArn };
    const result = (await this.#pool.invoke(event)) as APIGatewayAuthorizerResult;
    this.#cache.set(token, { result, until: now + this.#settings.cacheSeconds * 1000 });
    return result;
  }
}

/** Whether a policy's resource, in which `*` stands for anything, covers a method. */
function matches(resource: string | string[] | undefined, methodArn: string): boolean {
  return [resource ?? []].flat().some((pattern) => {
    const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`).test(methodArn);
  });
}
