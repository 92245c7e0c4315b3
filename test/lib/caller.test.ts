import { expect, it } from "@jest/globals";
import { generateApiKey, newApiKeyRecord, type Scope } from "../../lib/api-key.ts";
import { callerContext, callerOf } from "../../lib/caller.ts";
import { requestEvent } from "../support/event.ts";

it.each<[Scope[]]>([[["pets:read"]], [["pets:read", "pets:write"]]])(
  "a function reads the key and the scopes that the authorizer writes: %j",
  (scopes) => {
    const record = newApiKeyRecord(generateApiKey("local"), { owner: "Acme", scopes, createdAt: 0 });
    const event = requestEvent({ authorizer: callerContext(record) });
    expect(callerOf(event)).toEqual({ keyId: record.keyId, scopes });
  },
);
