import { expect, it, jest } from "@jest/globals";
import fc from "fast-check";
import { allStages } from "../../infra/stages.ts";
import { generateApiKey, isLive, KEY_PREFIX, keyIn, NO_END } from "../../lib/api-key.ts";
import { SYMBOLS, withChecksum } from "../support/api-keys.ts";

const isKeyOf = (stage: string, text: string) => keyIn(`Bearer ${text}`, stage) === text;
const generate = () => Array.from({ length: 2000 }, () => generateApiKey("staging"));

it("is accepted by its own stage, and by no other", () => {
  const wrong = generate().filter((key) => !isKeyOf("staging", key) || isKeyOf("production", key));
  expect(wrong).toEqual([]);
});

it.each(allStages)("is accepted by the stage $name that has issued it", ({ name }) => {
  expect(isKeyOf(name, generateApiKey(name))).toBe(true);
});

it("is drawn from 62 symbols in 27 places, and not by Math.random", () => {
  const guessable = jest.spyOn(Math, "random");
  const random = generate().map((key) => key.slice(`${KEY_PREFIX}_staging_`.length, -6));
  expect(guessable).not.toHaveBeenCalled();
  for (let place = 0; place < 27; place++) expect(new Set(random.map((text) => text[place])).size).toBe(62);
});

it("is refused with any character changed, and when it is cut or padded", () => {
  const key = generateApiKey("staging");
  for (const text of ["", key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`, key.toUpperCase()])
    expect(isKeyOf("staging", text)).toBe(false);
  const character = fc.constantFrom(...`${SYMBOLS}_- `);
  fc.assert(
    fc.property(fc.nat(key.length - 1), character, (index, other) => {
      const changed = key.slice(0, index) + other + key.slice(index + 1);
      expect(isKeyOf("staging", changed)).toBe(changed === key);
    }),
  );
});

it.each([
  ["a place less", `${KEY_PREFIX}_local_${"0".repeat(26)}`],
  ["another symbol", `${KEY_PREFIX}_local_-${"0".repeat(26)}`],
  ["text before it", `X${KEY_PREFIX}_local_${"0".repeat(27)}`],
  ["a stage in capitals", `${KEY_PREFIX}_LOCAL_${"0".repeat(27)}`],
])("is refused with %s, even if its checksum is right", (_difference, text) => {
  for (const stage of ["local", "LOCAL"]) expect(isKeyOf(stage, withChecksum(text))).toBe(false);
  expect(isKeyOf("local", withChecksum(`${KEY_PREFIX}_local_${"0".repeat(27)}`))).toBe(true);
});

it.each([
  [5, [true, false, false]],
  [NO_END, [true, true, true]],
  [Number.NaN, [false, false, false]],
])("works until its end, and not if that is lost: %d", (endsAt, live) => {
  const record = { hash: "", keyId: "", owner: "", scopes: [], createdAt: 0, endsAt };
  expect([4, 5, 6].map((now) => isLive(record, now))).toEqual(live);
});
