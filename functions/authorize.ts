import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { hashApiKey, isApiKeyOf, isLive } from "../lib/api-key.ts";
import { keyStore } from "../lib/dynamo/key-store.ts";
import { env } from "../lib/env.ts";
import { describeError, log } from "../lib/log.ts";

const keys = keyStore(env.keysTable);
const { stage } = env;

// API Gateway answers 401 to exactly this message, and 500 (here: 503) to any other.
const unauthorized = () => new Error("Unauthorized");

/**
 * Decides whether a request's bearer key is good (SPEC 5).
 *
 * @returns leave to call the whole API of this stage: API Gateway caches the answer by the key, so it
 *   must hold for every operation. What the key may do there travels in the context.
 * @throws Error `Unauthorized` for a key that is not good
 */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  // The scheme's case does not matter (RFC 9110, 11.1).
  const key = /^Bearer +(\S+)$/i.exec(event.authorizationToken)?.[1];
  if (!key || !isApiKeyOf(stage, key)) throw unauthorized();

  const record = await keys.find(hashApiKey(key)).catch((error: unknown) => {
    log("error", { operation: "authorize", error: describeError(error) });
    throw new Error("Unavailable");
  });
  if (!record || !isLive(record, Date.now())) throw unauthorized();

  const [api, stageName] = event.methodArn.split("/");
  return {
    principalId: record.keyId,
    policyDocument: {
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: `${api}/${stageName}/*` }],
    },
    context: { keyId: record.keyId, scopes: record.scopes.join(" ") },
  };
}
