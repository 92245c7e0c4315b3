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
