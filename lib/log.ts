/**
 * Writes one structured line to the log; Lambda's JSON log format adds time and request id.
 *
 * @param level `error` for what an operator must look at
 * @param line never holds a key, a body or a header's value
 */
export function log(level: "info" | "error", line: Record<string, unknown>): void {
  console[level](line);
}

/**
 * What the log may say of an error. The message is left out, because that of a parser quotes its
 * input; only DynamoDB's own messages, which name no values, are kept.
 *
 * @param error anything thrown
 * @returns its name, its stack's frames, and the same of its causes
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const service = "$metadata" in error ? { message: error.message, metadata: error.$metadata } : {};
  return {
    name: error.name,
    ...("code" in error ? { code: error.code } : {}),
    ...service,
    stack: error.stack?.split("\n").filter((line) => /^\s+at /.test(line)),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
