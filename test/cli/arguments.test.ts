import { expect, it } from "@jest/globals";
import { InvalidArgumentError } from "commander";
import {
  LONGEST_DAYS,
  LONGEST_OWNER,
  parseBaseUrl,
  parseDuration,
  parseKeyId,
  parseLifetime,
  parseOwner,
  parseScopes,
} from "../../cli/arguments.ts";
import { escapeControls } from "../../cli/escape-controls.ts";
import { generateApiKey, hashApiKey, keyIdOf } from "../../lib/api-key.ts";
import { API_VERSION } from "../../lib/operation.ts";

const version = `/${API_VERSION}`;
const id = "key_94a9db21d2a2b24b";
const longOwner = "犬".repeat(LONGEST_OWNER);

it.each<[string, (text: string) => unknown, valid: Record<string, unknown>, invalid: string[]]>([
  [
    "a duration",
    parseDuration,
    { "45s": 45e3, "30m": 18e5, "24h": 864e5, [`${LONGEST_DAYS}d`]: LONGEST_DAYS * 864e5, "0s": 0 },
    ["", "90", "d", "1.5h", "-1d", "1w", "1D", " 1d", "1d2h", `${LONGEST_DAYS + 1}d`, `${"9".repeat(400)}d`],
  ],
  ["a lifetime", parseLifetime, { "1s": 1000 }, ["0d", "1w"]],
  [
    "an owner",
    parseOwner,
    { "Acme, Inc. 🐕": "Acme, Inc. 🐕", [longOwner]: longOwner, ask_me: "ask_me" },
    ["", " ", "\u200d\u3164", "A".repeat(LONGEST_OWNER + 1), "A\u001b[31m", "\u202eA", "A\nB"],
  ],
  ["a key ID", parseKeyId, { [id]: id }, ["", "key_0", `${id}0`, `x${id}`, id.toUpperCase()]],
  [
    "scopes",
    (text) => parseScopes(text, parseScopes("pets:read")),
    { "pets:write, pets:read": ["pets:read", "pets:write"] },
    ["admin", "pets:read,admin"],
  ],
  [
    "a base URL",
    parseBaseUrl,
    { [`http://a:1${version}`]: `http://a:1${version}`, [`https://a/b${version}/`]: `https://a/b${version}` },
    [
      "",
      "nope",
      "http://a",
      ...["http://a?b", "a:1", "//a", "file://", "http:/"].map((url) => url + version),
    ],
  ],
])("reads %s, and refuses anything else with a hint", (_what, parse, valid, invalid) => {
  for (const [text, value] of Object.entries(valid)) expect(parse(text)).toEqual(value);
  // commander prints the message of this error only.
  for (const text of invalid) expect(() => parse(text)).toThrow(InvalidArgumentError);
});

it("takes every character in an owner, except for those that control a terminal or a line", () => {
  const all = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code));
  const refused = all.map(escapeControls).filter((text, code) => text !== all[code]);
  expect(refused.join("")).toMatch(
    /^(\\u00[01].){32}\\u007f(\\u00[89].){32}\\u061c(\\u200[ef]){2}(\\u202[89a-e]){7}(\\u206[6-9]){4}(\\ud[89a-f]..){2048}$/,
  );
});

it("names the key ID of a pasted API key, which cannot be an owner", () => {
  const key = generateApiKey("production");
  const itsId = keyIdOf(hashApiKey(key));
  expect(() => parseKeyId(`Bearer ${key}`)).toThrow(`That is an API key. Use its key ID: ${itsId}.`);
  expect(() => parseOwner(`Acme ${key}`)).toThrow("An owner must not contain an API key.");
});
