/**
 * Describes an error for the log. It leaves out the message of a SyntaxError, because a parser quotes its input. Others name
 * fields, types, tables and hosts, and no value that a client sent.
 *
 * @param error anything thrown
 * @returns its name, message, code and stack frames, what DynamoDB says of the response, and the same of its causes
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  // What DynamoDB throttled, and why. Its errors use either spelling.
  const { ThrottlingReasons, throttlingReasons = ThrottlingReasons } = error as Record<string, unknown> &
    Error;
  return {
    name: error.name,
    ...(error instanceof SyntaxError ? {} : { message: error.message }),
    ...("code" in error ? { code: error.code } : {}),
    ...("$metadata" in error ? { metadata: error.$metadata } : {}),
    ...(throttlingReasons ? { throttlingReasons } : {}),
    stack: error.stack?.split("\n").filter((line) => /^\s+at /.test(line)),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
