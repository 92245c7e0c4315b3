import * as z from "zod/mini";

/** How a value is written in a request or answer, in the words of JSON Schema. */
export interface WireForm {
  type?: "integer" | "string";
  format?: "int64";
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  description?: string;
  examples?: unknown[];
}

/**
 * The wire forms of schemas that cannot tell theirs themselves: values parsed from text, bigints, and rules
 * written as code. The API's document reads them; validation does not.
 */
export const wireForms = z.registry<WireForm>();
