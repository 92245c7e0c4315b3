import { InvalidArgumentError } from "commander";

/** Returns a parser of an option's value. It refuses what is not a whole number from `min` on. */
export const wholeNumber = (min: number) => (text: string) => {
  if (!/^\d{1,15}$/.test(text) || Number(text) < min)
    throw new InvalidArgumentError(`Use a whole number from ${min} on.`);
  return Number(text);
};
