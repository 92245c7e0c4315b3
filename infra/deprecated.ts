import { operations } from "../lib/operations.ts";

/** The operations that clients should stop calling. What watches their calls follows from this list. */
export const deprecatedOperations = operations.filter((operation) => "deprecation" in operation);
