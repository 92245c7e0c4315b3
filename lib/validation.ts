import * as z from "zod/mini";

/** Stands for the values of a parameter that was sent more than once. No schema accepts it, and no JSON contains it. */
export const REPEATED = Symbol("repeated");

/**
 * The form of every validation message: the rule that a field breaks, never its value (contract 7.3).
 *
 * @param rule the words that follow "must"
 * @returns zod's error parameter
 */
export function must(rule: string) {
  return {
    error: ({ input }: { input?: unknown }) => {
      if (input === REPEATED) return "must not be repeated";
      return input === undefined ? `is required and must ${rule}` : `must ${rule}`;
    },
  };
}

/**
 * Makes the schema of a value that is sent as text, in a path, a query or a header.
 *
 * @param decode returns undefined for text that breaks the rule
 * @param encode writes a value as text that decode accepts: the `Link` to the next page repeats the parameters
 * @param rule what `must` returned
 * @param meta describes the text in JSON Schema, with an example
 */
export const fromText = <T>(
  decode: (text: string) => T | undefined,
  encode: (value: T) => string,
  rule: ReturnType<typeof must>,
  meta: z.core.GlobalMeta,
) =>
  z
    .codec(z.string(rule), z.custom<T>(), {
      decode: (text, context) => {
        const value = decode(text);
        if (value === undefined) {
          context.issues.push({ code: "custom", input: text, message: rule.error({ input: text }) });
          return z.NEVER;
        }
        return value;
      },
      encode,
    })
    .check(z.meta(meta));
