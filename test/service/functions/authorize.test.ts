import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { handler } from "../../../functions/authorize.ts";
import { generateApiKey, hashApiKey, keyIdOf, recordOf } from "../../../lib/api-key.ts";
import { keyStore } from "../../../lib/dynamo/key-store.ts";
import { withWrongChecksum } from "../../support/api-keys.ts";
import { authorizerEvent } from "../../support/event.ts";

const authorize = (token: string) => handler(authorizerEvent(token));

const effectOf = async (token: string) => (await authorize(token)).policyDocument.Statement[0]?.Effect;

const keys = keyStore(process.env.KEYS_TABLE ?? "");
const send = jest.spyOn(DynamoDBClient.prototype, "send");
afterEach(() => {
  send.mockClear();
});

async function issued({ stage = "staging", expiresAt }: { stage?: string; expiresAt?: number } = {}) {
  const key = generateApiKey(stage);
  const details = {
    name: "test",
    scopes: ["pets:read" as const, "pets:write" as const],
    createdAt: Date.now(),
    expiresAt,
  };
  await keys.add(recordOf(key, details));
  send.mockClear();
  return key;
}

describe("the authorizer", () => {
  it("allows a valid key the whole API of its stage and names its owner, with one read", async () => {
    const key = await issued();
    const keyId = keyIdOf(hashApiKey(key));
    expect(await authorize(`Bearer ${key}`)).toEqual({
      principalId: keyId,
      policyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Action: "execute-api:Invoke",
            Resource: "arn:aws:execute-api:eu-west-1:123456789012:abc/v1/*",
          },
        ],
      },
      context: { keyId, scopes: "pets:read pets:write" },
    });
    expect(send).toHaveBeenCalledTimes(1);
  });

  it("ignores the case of the scheme, but not of the key", async () => {
    const key = await issued();
    expect(await effectOf(`bearer  ${key}`)).toBe("Allow");
    expect(await effectOf(`Bearer ${key.toLowerCase()}`)).toBe("Deny");
  });

  it("denies a key that nobody issued, with one read", async () => {
    expect(await authorize(`Bearer ${generateApiKey("staging")}`)).toEqual({
      principalId: "unknown",
      policyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Deny",
            Action: "execute-api:Invoke",
            Resource: "arn:aws:execute-api:eu-west-1:123456789012:abc/v1/*",
          },
        ],
      },
      context: { keyId: "unknown", scopes: "" },
    });
    expect(send).toHaveBeenCalledTimes(1);
  });

  it("denies a revoked key and an expired one by its own clock, with one read", async () => {
    const revoked = await issued();
    await keys.revoke(hashApiKey(revoked), Date.now());
    const expiresAt = Date.now() + 60_000;
    const expiring = await issued({ expiresAt });
    expect(await effectOf(`Bearer ${expiring}`)).toBe("Allow");
    const now = jest.spyOn(Date, "now").mockReturnValue(expiresAt);
    send.mockClear();
    for (const key of [revoked, expiring]) {
      expect(await effectOf(`Bearer ${key}`)).toBe("Deny");
    }
    expect(send).toHaveBeenCalledTimes(2);
    now.mockReturnValue(expiresAt - 1);
    expect(await effectOf(`Bearer ${expiring}`)).toBe("Allow");
    now.mockRestore();
  });

  it("denies text that is not a key of its stage, without a read", async () => {
    const key = await issued();
    const ofProduction = await issued({ stage: "production" });
    const others = [ofProduction, withWrongChecksum(key), `${key}x`, key.slice(1), "x", ""];
    for (const token of [
      ...others.map((other) => `Bearer ${other}`),
      key,
      `Basic ${key}`,
      `Basic Bearer ${key}`,
      `Bearer ${key} ${key}`,
    ]) {
      expect(await effectOf(token)).toBe("Deny");
    }
    expect(send).not.toHaveBeenCalled();
  });

  it("neither denies nor allows anyone when its table cannot be read, and logs why without the key", async () => {
    const key = await issued();
    const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
    send.mockImplementationOnce(async () => Promise.reject(new Error("secret")));
    await expect(authorize(`Bearer ${key}`)).rejects.toThrow("The keys cannot be read.");
    expect(error.mock.calls).toEqual([
      [{ operation: "authorize", error: { name: "Error", stack: expect.any(Array) } }],
    ]);
    const logged = JSON.stringify(error.mock.calls);
    for (const text of ["secret", key, hashApiKey(key)]) expect(logged).not.toContain(text);
  });
});
