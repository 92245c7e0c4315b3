import { Duration, RemovalPolicy } from "aws-cdk-lib";
import {
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MockIntegration,
  PassthroughBehavior,
  RestApi,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { Construct } from "constructs";
import { apiKeyPattern } from "../lib/api-key.ts";
import { errorBody, errors } from "../lib/errors.ts";
import { API_VERSION, operations } from "../lib/operations.ts";
import { acknowledge } from "./acknowledge.ts";
import type { ApiFunction } from "./api-function.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { StageLog } from "./stage-log.ts";
import type { Stage } from "./stages.ts";

/**
 * One line a request: who did what, and how long it took (milliseconds). Never a header, a query or
 * `$context.error.message`, which can repeat what the client sent.
 */
const ACCESS_LOG_FORMAT = JSON.stringify({
  requestId: "$context.requestId",
  requestTime: "$context.requestTime",
  keyId: "$context.authorizer.keyId",
  operation: "$context.httpMethod $context.resourcePath",
  status: "$context.status",
  latency: "$context.responseLatency",
  integrationLatency: "$context.integrationLatency",
  authorizerLatency: "$context.authorizer.latency",
  error: "$context.error.responseType",
});

export interface ApiProps {
  /** the function of every operation */
  functions: Record<(typeof operations)[number]["id"], ApiFunction>;
  authorize: ApiFunction;
  stage: Stage;
}

/**
 * The REST API: a route for every operation, all behind the authorizer. A REST API and not an HTTP API,
 * because only it lets the gateway's own answers carry the specified Error body.
 */
export class Api extends Construct {
  readonly restApi: RestApi;
  /** under the stage's own address */
  readonly baseUrl: string;

  constructor(scope: Construct, id: string, { functions, authorize, stage }: ApiProps) {
    super(scope, id);

    const authorizer = new TokenAuthorizer(this, "Authorizer", {
      handler: authorize.live,
      validationRegex: `^[Bb][Ee][Aa][Rr][Ee][Rr] +${apiKeyPattern}$`,
      resultsCacheTtl: Duration.seconds(stage.authorizerCacheSeconds),
    });
    const api = new RestApi(this, "RestApi", {
      restApiName: scope.node.id,
      endpointTypes: [EndpointType.REGIONAL],
      deployOptions: {
        stageName: API_VERSION,
        throttlingRateLimit: stage.throttling.rate,
        throttlingBurstLimit: stage.throttling.burst,
        tracingEnabled: true,
        dataTraceEnabled: false, // it would log bodies and keys
        accessLogDestination: new LogGroupLogDestination(new StageLog(this, "AccessLog")),
        accessLogFormat: AccessLogFormat.custom(ACCESS_LOG_FORMAT),
      },
      defaultMethodOptions: { authorizer, authorizationType: AuthorizationType.CUSTOM },
      // API Gateway has one role for logs an account and region. Each stack sets one and leaves it behind, so
      // that the other stack's logs go on when this one is destroyed.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    });
    // It repeats the stack's own output of the base URL.
    api.node.tryRemoveChild("Endpoint");
    addGatewayResponses(api);

    for (const { id, method, path } of operations) {
      const integration = new LambdaIntegration(functions[id].live, { allowTestInvoke: false });
      api.root.resourceForPath(path).addMethod(method, integration);
    }
    for (const path of new Set(operations.map((operation) => operation.path))) {
      refuseOtherMethods(api, path);
    }
    this.restApi = api;

    acknowledge(
      api,
      "APIG2",
      "The functions validate every part of a request and name every rule that it breaks.",
    );
    acknowledge(
      api,
      "COG4",
      "Clients are programs with API keys, which the Lambda authorizer checks; there are no users.",
    );
    acknowledge(
      api,
      "APIG6",
      "Every request is in the access log. Execution logs would add the text of errors, which can repeat a client's key.",
    );
    acknowledge(
      api,
      "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
      "The policy that API Gateway documents for the one role by which an account's APIs write their logs.",
    );
    if (!stage.firewallLimit) {
      acknowledge(
        api,
        "APIG3",
        "This stage is throttled to a low rate; a firewall would cost more than it protects.",
      );
    }
    this.baseUrl = `https://${api.restApiId}.execute-api.${api.stack.region}.${api.stack.urlSuffix}/${API_VERSION}`;
  }
}

/** Answers 405 with `Allow` (RFC 9110, 15.5.6), where API Gateway would say that there is no such path. */
function refuseOtherMethods(api: RestApi, path: string): void {
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
