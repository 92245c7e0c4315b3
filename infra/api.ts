import { Duration, RemovalPolicy } from "aws-cdk-lib";
import {
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  RestApi,
  type StageOptions,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { Construct } from "constructs";
import { apiKeyPattern } from "../lib/api-key.ts";
import { API_VERSION, operations } from "../lib/operations.ts";
import { ACCESS_LOG_FORMAT } from "./access-log.ts";
import { acknowledge } from "./acknowledge.ts";
import type { ApiFunction } from "./api-function.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { addMethodNotAllowed, addNotFound } from "./mock-errors.ts";
import { StageLog } from "./stage-log.ts";
import type { Stage } from "./stages.ts";

/** The function of every operation. */
export type OperationFunctions = Record<(typeof operations)[number]["id"], ApiFunction>;

export interface ApiProps {
  functions: OperationFunctions;
  authorize: ApiFunction;
  stage: Stage;
}

/** The REST API: a route for every operation, all behind the authorizer. docs/decisions/ says why it is a REST API. */
export class Api extends Construct {
  readonly restApi: RestApi;
  /** the base URL of the stage's default endpoint */
  readonly baseUrl: string;

  constructor(scope: Construct, id: string, { functions, authorize, stage }: ApiProps) {
    super(scope, id);
    const api = this.#createRestApi(authorize, stage);
    addGatewayResponses(api);
    addOperations(api, functions);
    for (const path of new Set(operations.map((operation) => operation.path))) addMethodNotAllowed(api, path);
    addNotFound(api);
    acknowledgeFindings(api, stage);
    this.restApi = api;
    this.baseUrl = `https://${api.restApiId}.execute-api.${api.stack.region}.${api.stack.urlSuffix}/${API_VERSION}`;
  }

  #createRestApi(authorize: ApiFunction, stage: Stage): RestApi {
    const authorizer = new TokenAuthorizer(this, "Authorizer", {
      handler: authorize.target,
      validationRegex: `^[Bb][Ee][Aa][Rr][Ee][Rr] +${apiKeyPattern}$`,
      resultsCacheTtl: Duration.seconds(stage.authorizerCacheSeconds),
    });
    const api = new RestApi(this, "RestApi", {
      restApiName: this.node.scope?.node.id ?? "",
      endpointTypes: [EndpointType.REGIONAL],
      deployOptions: this.#deployOptions(stage),
      defaultMethodOptions: { authorizer, authorizationType: AuthorizationType.CUSTOM },
      // API Gateway has one role for logs per account and region. Each stack sets one and retains it, so that the
      // other stack keeps its logs when this one is destroyed.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    });
    // It repeats the stack's own output of the base URL.
    api.node.tryRemoveChild("Endpoint");
    return api;
  }

  #deployOptions(stage: Stage): StageOptions {
    return {
      stageName: API_VERSION,
      throttlingRateLimit: stage.throttling.rate,
      throttlingBurstLimit: stage.throttling.burst,
      tracingEnabled: true,
      dataTraceEnabled: false, // it would log bodies and keys
      accessLogDestination: new LogGroupLogDestination(new StageLog(this, "AccessLog")),
      accessLogFormat: AccessLogFormat.custom(ACCESS_LOG_FORMAT),
    };
  }
}

function addOperations(api: RestApi, functions: OperationFunctions): void {
  for (const { id, method, path } of operations) {
    const integration = new LambdaIntegration(functions[id].target, { allowTestInvoke: false });
    api.root.resourceForPath(path).addMethod(method, integration);
  }
}

function acknowledgeFindings(api: RestApi, stage: Stage): void {
  acknowledge(api, "APIG2", "The functions validate every part of a request and name every rule it breaks.");
  acknowledge(
    api,
    "COG4",
    "Clients are programs with API keys, which the Lambda authorizer checks; there are no users.",
  );
  acknowledge(
    api,
    "APIG6",
    "The access log has the requests. Execution logs would add error texts, which can repeat a client's key.",
  );
  acknowledge(
    api,
    "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
    "API Gateway documents this policy for the one role with which an account's APIs write their logs.",
  );
  if (!stage.firewallLimit) {
    acknowledge(
      api,
      "APIG3",
      "This stage is throttled to a low rate; a firewall would cost more than it protects.",
    );
  }
}
