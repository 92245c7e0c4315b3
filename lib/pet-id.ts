import { randomInt } from "node:crypto";
import { parseInt64 } from "./int64.ts";
import { fromText, must } from "./validation.ts";

/** Ids count from this instant. */
const EPOCH = Date.UTC(2026, 0, 1);
const RANDOM_RANGE = 2 ** 12;
/** A request starts to write a pet at most this long after its id was generated. */
export const WRITABLE_MS = 10_000;

/**
 * Returns an id that is generated at a time: the milliseconds since 2026, followed by 12 random bits. Ids stay below 2^53
 * until 2095. Source: contract 2.7.
 *
 * @param time milliseconds since 1970
 * @param random an integer from 0 to 4095
 * @throws RangeError when a wrong clock makes an id that is not from 1 to 2^53 - 1; no list would return such a pet
 */
export function petIdAt(time: number, random: number): bigint {
  const id = (time - EPOCH) * RANDOM_RANGE + random;
  if (id < 1 || id > Number.MAX_SAFE_INTEGER) throw new RangeError("The clock is before 2026 or after 2095.");
  return BigInt(id);
}

/**
 * Generates an id. Two in the same millisecond are the same with a probability of 1 in 4,096.
 *
 * @throws RangeError as petIdAt
 */
export const generatePetId = () => petIdAt(Date.now(), randomInt(RANDOM_RANGE));

/** Returns whether an id is too old to be written: a reader of the list may have passed it. Source: contract 2.7. */
export const isStalePetId = (id: bigint) => id < petIdAt(Date.now() - WRITABLE_MS, 0);

/** The id of a pet in a path. */
export const PetId = fromText(parseInt64, String, must("be an int64"), {
  type: "integer",
  format: "int64",
  description: "Id of the animal",
  examples: [114677519594330],
});
