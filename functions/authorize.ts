import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { type ApiKeyRecord, hashApiKey, isLive, keyIn } from "../lib/api-key.ts";
import { callerContext } from "../lib/caller.ts";
import { apiKeyFinder } from "../lib/dynamo/api-key-store.ts";
import { env } from "../lib/env.ts";
import { describeError } from "../lib/log.ts";
import { warmUp } from "../lib/warm-up.ts";

const keys = apiKeyFinder(env("API_KEYS_TABLE"));
const stage = env("STAGE");

export const ready = warmUp((signal) => keys.find("-", signal));

/**
 * Decides whether a request's API key is valid (contract 6).
 *
 * @returns a policy that allows or denies the whole API, and the caller in the context. API Gateway caches the
 *   policy by the spelling of the `Authorization` header, and uses it for every operation. A denial becomes a 401. It is
 *   not an error of this function, so the function's error metric counts only failures.
 * @throws Error when the keys cannot be read. API Gateway then returns a 503.
 */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const key = keyIn(event.authorizationToken, stage);
  const record = key ? await find(hashApiKey(key)) : undefined;
  const effect = record && isLive(record, Date.now()) ? "Allow" : "Deny";
  return policy(effect, event.methodArn, record);
}

async function find(hash: string): Promise<ApiKeyRecord | undefined> {
  try {
    return await keys.find(hash);
  } catch (error) {
    console.error({ operation: "authorize", error: describeError(error) });
    throw new Error("The keys cannot be read.");
  }
}

function policy(
  effect: "Allow" | "Deny",
  methodArn: string,
  record: ApiKeyRecord | undefined,
): APIGatewayAuthorizerResult {
  const [api, apiStageName] = methodArn.split("/");
  const context = callerContext(record);
  return {
    principalId: context.keyId,
    policyDocument: {
      Version: "2012-10-17",
      Statement: [{ Effect: effect, Action: "execute-api:Invoke", Resource: `${api}/${apiStageName}/*` }],
    },
    context,
  };
}
