import { describe, expect, it } from "@jest/globals";
import {
  baseUrl,
  parseDuration,
  parseKeyId,
  parseLifetime,
  parseOwner,
  parseScopes,
} from "../../../cli/arguments.ts";
import { generateApiKey, hashApiKey, keyIdOf } from "../../../lib/api-key.ts";

const id = "key_94a9db21d2a2b24b";

describe("duration", () => {
  it("reads a whole number with a unit as milliseconds", () => {
    expect(["45s", "30m", "24h", "90d", "0s"].map(parseDuration)).toEqual([45e3, 18e5, 864e5, 7776e6, 0]);
    expect(parseDuration("36525d")).toBe(36_525 * 86_400_000);
  });

  it.each(["", "90", "d", "1.5h", "-1d", "1w", "1D", " 1d", "1d2h"])("rejects %j", (text) => {
    expect(() => parseDuration(text)).toThrow("Use a whole number and a unit, such as 30m, 24h or 90d.");
  });

  it.each(["36526d", "99999999999s", `${"9".repeat(400)}d`])("names the limit: text %#", (text) => {
    expect(() => parseDuration(text)).toThrow("Use at most 100 years (36525d).");
  });

  it("can be zero only as a grace period", () => {
    expect(() => parseLifetime("0d")).toThrow("Use a duration longer than zero.");
    expect(parseLifetime("1s")).toBe(1000);
  });
});

describe("parseOwner", () => {
  it.each(["A", "Acme, Inc. 🐕", "犬".repeat(100)])("accepts %s", (name) => {
    expect(parseOwner(name)).toBe(name);
  });

  it.each(["", " ", "A".repeat(101), "A\u001b[31m", "\u202eA", "A\nB"])("rejects %j", (name) => {
    expect(() => parseOwner(name)).toThrow("Use 1 to 100 printable characters.");
  });
});

it.each(["", "key_0", `${id}0`, `x${id}`, id.toUpperCase()])("%j is not a key ID", (text) => {
  expect(() => parseKeyId(text)).toThrow("Use a key ID, such as key_94a9db21d2a2b24b.");
  expect(parseKeyId(id)).toBe(id);
});

it("names the key ID of a pasted API key, which cannot be a name", () => {
  const key = generateApiKey("production");
  const itsId = keyIdOf(hashApiKey(key));
  expect(() => parseKeyId(`Bearer ${key}`)).toThrow(`That is an API key. Use its key ID: ${itsId}.`);
  expect(() => parseOwner(`Acme ${key}`)).toThrow("A name must not contain an API key.");
  expect(parseOwner("ask_me")).toBe("ask_me");
});

it("adds the scopes of repeated options", () => {
  expect(parseScopes("pets:write", parseScopes("pets:read, pets:write"))).toEqual([
    "pets:read",
    "pets:write",
  ]);
  expect(() => parseScopes("pets:read,admin")).toThrow("Use one or more of pets:read,pets:write.");
});

it.each(["nope", "", "localhost:3000/v1", "//host/v1", "file:///v1"])("%j is not a base URL", (text) => {
  expect(() => baseUrl(text)).toThrow("Use a URL, such as https://example.com/v1.");
  expect(baseUrl("http://127.0.0.1:3000/v1")).toBe("http://127.0.0.1:3000/v1");
});
