import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { type ApiKeyRecord, hashApiKey, isApiKeyOf, isLive } from "../lib/api-key.ts";
import { keyStore } from "../lib/dynamo/key-store.ts";
import { env } from "../lib/env.ts";
import { describeError, log } from "../lib/log.ts";
import { warmUp } from "../lib/warm-up.ts";

const keys = keyStore(env.keysTable);
const { stage } = env;

export const ready = warmUp(() => keys.find("-"));

/**
 * Decides whether a request's bearer key is good (SPEC 5).
 *
 * @returns leave to call the whole API of this stage, or a denial, which the gateway answers with 401.
 *   API Gateway caches either by the key, so it must hold for every operation: what the key may do there
 *   travels in the context. A denial is no error of the function, so that its errors mean real trouble.
 * @throws Error when the keys cannot be read, which the gateway answers with 503
 */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  // The scheme's case does not matter (RFC 9110, 11.1).
  const key = /^Bearer +(\S+)$/i.exec(event.authorizationToken)?.[1];
  const record = key && isApiKeyOf(stage, key) ? await find(hashApiKey(key)) : undefined;
  return policy(event.methodArn, record, record !== undefined && isLive(record, Date.now()));
}

async function find(hash: string): Promise<ApiKeyRecord | undefined> {
  try {
    return await keys.find(hash);
  } catch (error) {
    log("error", { operation: "authorize", error: describeError(error) });
    throw new Error("The keys cannot be read.");
  }
}

function policy(
  methodArn: string,
  record: ApiKeyRecord | undefined,
  good: boolean,
): APIGatewayAuthorizerResult {
  const [api, stageName] = methodArn.split("/");
  const { keyId = "unknown", scopes = [] } = record ?? {};
  return {
    principalId: keyId,
    policyDocument: {
      Version: "2012-10-17",
      Statement: [
        { Effect: good ? "Allow" : "Deny", Action: "execute-api:Invoke", Resource: `${api}/${stageName}/*` },
      ],
    },
    context: { keyId, scopes: scopes.join(" ") },
  };
}
