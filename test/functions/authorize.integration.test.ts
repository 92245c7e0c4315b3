import { createHash } from "node:crypto";
import { type AttributeValue, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import { handler } from "../../functions/authorize.ts";
import { generateApiKey, hashApiKey, KEY_PREFIX, keyIdOf, newApiKeyRecord } from "../../lib/api-key.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import { withChecksum, withWrongChecksum } from "../support/api-keys.ts";
import { authorizerEvent } from "../support/event.ts";

const authorize = (token: string) => handler(authorizerEvent(token));

const effectOf = async (token: string) => (await authorize(token)).policyDocument.Statement[0]?.Effect;

// The whole API, because API Gateway reuses the cached policy for every method.
const Resource = "arn:aws:execute-api:eu-west-1:123456789012:abc/v1/*";
const policy = (Effect: "Allow" | "Deny", keyId: string, scopes: string) => ({
  principalId: keyId,
  policyDocument: { Version: "2012-10-17", Statement: [{ Effect, Action: "execute-api:Invoke", Resource }] },
  context: { keyId, scopes },
});

const table = process.env.API_KEYS_TABLE ?? "";
const keys = apiKeyStore(table);

type Issued = { stage?: string; endsAt?: number };
async function issued({ stage = "staging", endsAt }: Issued = {}) {
  const key = generateApiKey(stage);
  const scopes = ["pets:read" as const, "pets:write" as const];
  await keys.add(newApiKeyRecord(key, { owner: "test", scopes, createdAt: Date.now(), endsAt }));
  return key;
}

/** A live key, as any version has issued it. */
const earlierKey = withChecksum(`${KEY_PREFIX}_staging_aqqSDxiDhPRe58IxMrmdYnHt2iM`);
const hash = createHash("sha256").update(earlierKey).digest("hex");
const keyId = `key_${hash.slice(0, 16)}`;
const earlierItem = {
  hash: { S: hash },
  keyId: { S: keyId },
  owner: { S: "Acme" },
  scopes: { SS: ["pets:read", "pets:write"] },
  createdAt: { N: "1795305600000" },
  endsAt: { N: "8640000000000000" },
};
/** Every form in which a version stored a live key. Only add to this list: clients still use these keys. */
const storedForms: [form: string, item: Record<string, AttributeValue>][] = [
  ["without an end", earlierItem],
  ["that ends", { ...earlierItem, endsAt: { N: "4102444800000" }, deleteAt: { N: "4110220800" } }],
];

it.each(storedForms)(
  "a key %s allows the whole API of its stage, as any version has stored it",
  async (_form, Item) => {
    await new DynamoDBClient({}).send(new PutItemCommand({ TableName: table, Item }));
    expect(await authorize(`Bearer ${earlierKey}`)).toEqual(policy("Allow", keyId, "pets:read pets:write"));
  },
);

describe("the authorizer", () => {
  it("denies a key from its end on, and passes its ID on", async () => {
    const endsAt = Date.now() + 60_000;
    const key = await issued({ endsAt });
    const now = jest.spyOn(Date, "now").mockReturnValue(endsAt);
    expect(await effectOf(`Bearer ${key}`)).toBe("Deny");
    expect((await authorize(`Bearer ${key}`)).context?.keyId).toBe(keyIdOf(hashApiKey(key)));
    now.mockReturnValue(endsAt - 1);
    expect(await effectOf(`Bearer ${key}`)).toBe("Allow");
    now.mockRestore();
  });

  it("denies a key that nobody issued and text that is not a key of its stage", async () => {
    expect(await authorize(`Bearer ${generateApiKey("staging")}`)).toEqual(policy("Deny", "unknown", ""));
    const key = await issued();
    const others = [await issued({ stage: "production" }), withWrongChecksum(key), `${key} ${key}`, ""];
    const tokens = [...others.map((other) => `Bearer ${other}`), key, `Basic ${key}`, `Basic Bearer ${key}`];
    for (const token of tokens) expect(await effectOf(token)).toBe("Deny");
  });
});
