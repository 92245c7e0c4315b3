/**
 * Writes one structured line to the log. Lambda's JSON log format adds the level, the time and the id of the invocation.
 *
 * @param line must not hold a key, a body or a header's value
 */
export function logError(line: Record<string, unknown>): void {
  console.error(line);
}

/**
 * Describes an error for the log, without its message: a parser's message quotes its input. DynamoDB's own messages are
 * included, because they contain no values.
 *
 * @param error anything thrown
 * @returns its name and stack frames, and the same of its causes
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
