import type { APIGatewayProxyEvent } from "aws-lambda";

/**
 * Returns a header of a request. It ignores the case of the name, because API Gateway keeps the client's spelling.
 *
 * @param name in lower case
 */
export function header(event: APIGatewayProxyEvent, name: string): string | undefined {
  const found = Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === name);
  return found?.[1];
}
