import {
  AuthorizationType,
  type IResource,
  type Method,
  type MethodOptions,
  MockIntegration,
  PassthroughBehavior,
  type RestApi,
} from "aws-cdk-lib/aws-apigateway";
import { type ErrorCode, errorBody, errors } from "../../lib/errors.ts";
import { operations } from "../../lib/operations.ts";
import { acknowledge } from "../acknowledge.ts";

/**
 * The media types that clients usually send. API Gateway selects the request template by the request's media type, and
 * returns 415 if there is none.
 */
const MEDIA_TYPES = [
  "application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "application/octet-stream",
  "application/xml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/problem+json",
  "application/vnd.api+json",
  "application/yaml",
  "text/plain",
  "text/html",
  "text/xml",
  "text/csv",
];

/**
 * Adds an ANY method that responds to every request with an Error.
 *
 * @param headers of the response, by their names in a method, with static values in single quotes
 */
function addErrorMethod(
  resource: IResource,
  code: ErrorCode,
  headers: Record<string, string>,
  options?: MethodOptions,
): Method {
  const { status } = errors[code];
  const statusCode = String(status);
  const template = JSON.stringify({ statusCode: status });
  const responseTemplates = { "application/json": JSON.stringify(errorBody(code)) };
  const integration = new MockIntegration({
    // Passing a body through would let the client choose the status.
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(MEDIA_TYPES.map((type) => [type, template])),
    integrationResponses: [{ statusCode, responseParameters: headers, responseTemplates }],
  });
  const responseParameters = Object.fromEntries(Object.keys(headers).map((name) => [name, true]));
  return resource.addMethod("ANY", integration, {
    ...options,
    methodResponses: [{ statusCode, responseParameters }],
  });
}

/**
 * Adds a method to a path that returns 405 with `Allow` (RFC 9110, 15.5.6) for every HTTP method without an operation.
 * Without it, API Gateway responds as if the path did not exist.
 */
export function addMethodNotAllowed(api: RestApi, path: string): void {
  const allowed = operations.filter((operation) => operation.path === path).map(({ method }) => method);
  const headers = { "method.response.header.Allow": `'${allowed.join(", ")}'` };
  addErrorMethod(api.root.resourceForPath(path), "method_not_allowed", headers);
}

/**
 * Adds a catch-all that returns 404 for every path without an operation, with and without a key. Without it, API Gateway
 * would read an Authorization header as a signature, and respond with DEFAULT_4XX, a 400.
 */
export function addNotFound(api: RestApi): void {
  for (const resource of [api.root, api.root.addResource("{proxy+}")]) {
    const method = addErrorMethod(resource, "not_found", {}, { authorizationType: AuthorizationType.NONE });
    const reason = "The route responds 404 to everybody and reads no data.";
    acknowledge(method, "APIG4", reason);
    acknowledge(method, "COG4", reason);
  }
}
