import type { APIGatewayProxyEvent } from "aws-lambda";

/**
 * Returns the values of a request's header, one for each line that the client sent. It ignores the case of the name,
 * because API Gateway keeps the client's spelling.
 *
 * @param name in lower case
 */
export const headerLines = (event: APIGatewayProxyEvent, name: string): string[] =>
  Object.entries(event.multiValueHeaders ?? {}).flatMap(([key, values]) =>
    key.toLowerCase() === name ? (values ?? []) : [],
  );

/**
 * Returns the value of a request's header, with repeated lines combined (RFC 9110, 5.3).
 *
 * @param name in lower case
 */
export function header(event: APIGatewayProxyEvent, name: string): string | undefined {
  const lines = headerLines(event, name);
  return lines.length > 0 ? lines.join(", ") : undefined;
}
