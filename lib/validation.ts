import * as z from "zod/mini";

/**
 * The one form of validation messages: the rule that a field breaks, never its value (contract 7.3).
 *
 * @param rule the words that follow "must"
 * @returns zod's error parameter
 */
export function must(rule: string) {
  return {
    error: (issue: { input?: unknown }) =>
      issue.input === undefined ? `is required and must ${rule}` : `must ${rule}`,
  };
}

/** What JSON Schema says about a value in a request or response. */
export type JsonSchemaHint = z.core.JSONSchema.BaseSchema;

/**
 * Hints for schemas that zod cannot express in JSON Schema: values parsed from text, bigints, and rules written as
 * code. Only the OpenAPI document uses them; validation does not.
 */
export const jsonSchemaHints = z.registry<JsonSchemaHint>();

/**
 * Makes the schema of a value that a client sends as text.
 *
 * @param parse returns undefined for text that breaks the rule
 * @param rule what `must` returned
 */
export const fromText = <T>(
  parse: (text: string) => T | undefined,
  rule: ReturnType<typeof must>,
  hint: JsonSchemaHint,
) =>
  z
    .pipe(
      z.string(rule),
      z.transform((text, context) => {
        const value = parse(text);
        if (value === undefined) {
          context.issues.push({ code: "custom", input: text, message: rule.error({ input: text }) });
          return z.NEVER;
        }
        return value;
      }),
    )
    .register(jsonSchemaHints, hint);
