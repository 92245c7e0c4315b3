import { MockIntegration, PassthroughBehavior, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { errorBody, errors } from "../lib/errors.ts";
import { operations } from "../lib/operations.ts";

/**
 * Adds a method to a path that answers 405 with `Allow` (RFC 9110, 15.5.6) to every method without an operation.
 * Without it API Gateway responds as if the path did not exist.
 */
export function addMethodNotAllowed(api: RestApi, path: string): void {
  const allowed = operations.filter((operation) => operation.path === path).map(({ method }) => method);
  const { status } = errors.method_not_allowed;
  const statusCode = String(status);
  api.root.resourceForPath(path).addMethod(
    "ANY",
    new MockIntegration({
      passthroughBehavior: PassthroughBehavior.NEVER,
      requestTemplates: { "application/json": JSON.stringify({ statusCode: status }) },
      integrationResponses: [
        {
          statusCode,
          responseParameters: { "method.response.header.Allow": `'${allowed.join(", ")}'` },
          responseTemplates: { "application/json": JSON.stringify(errorBody("method_not_allowed")) },
        },
      ],
    }),
    { methodResponses: [{ statusCode, responseParameters: { "method.response.header.Allow": true } }] },
  );
}
