import type { APIGatewayProxyEvent } from "aws-lambda";

/**
 * Returns a header of a request in any case, because API Gateway keeps the client's.
 *
 * @param name in lower case
 */
export function header(event: APIGatewayProxyEvent, name: string): string | undefined {
  const found = Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === name);
  return found?.[1];
}
