import { Duration } from "aws-cdk-lib";
import {
  AccessLogFormat,
  AuthorizationType,
  type CfnRestApi,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  RestApi,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { Construct } from "constructs";
import { authorizationPattern } from "../../lib/api-key.ts";
import { API_VERSION } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { acknowledge } from "../acknowledge.ts";
import type { ApiFunction } from "../api-function.ts";
import type { Functions } from "../function-set.ts";
import { stackName } from "../names.ts";
import type { Stage } from "../stages.ts";
import { ACCESS_LOG_FORMAT, AccessLog } from "./access-log.ts";
import { TLS } from "./domain.ts";
import { addMethodNotAllowed, addNotFound } from "./error-methods.ts";
import { addGatewayResponses } from "./gateway-responses.ts";

/** The REST API: a route for every operation behind the authorizer, and errors for everything else. */
export class Api extends Construct {
  readonly restApi: RestApi;
  readonly accessLog: AccessLog;
  /** the base URL of the default endpoint */
  readonly baseUrl: string;

  constructor(scope: Construct, id: string, functions: Functions, stage: Stage) {
    super(scope, id);
    this.accessLog = new AccessLog(this, "AccessLog", stage);
    const api = this.#createRestApi(functions.authorize, stage);
    addGatewayResponses(api);
    for (const { id, method, path } of operations) {
      const integration = new LambdaIntegration(functions[id].live, { allowTestInvoke: false });
      api.root.resourceForPath(path).addMethod(method, integration);
    }
    for (const path of new Set(operations.map((operation) => operation.path))) addMethodNotAllowed(api, path);
    addNotFound(api);
    acknowledgeFindings(api, stage);
    this.restApi = api;
    this.baseUrl = `https://${api.restApiId}.execute-api.${api.stack.region}.${api.stack.urlSuffix}/${API_VERSION}`;
  }

  #createRestApi(authorize: ApiFunction, stage: Stage): RestApi {
    const authorizer = new TokenAuthorizer(this, "Authorizer", {
      handler: authorize.live,
      validationRegex: authorizationPattern,
      resultsCacheTtl: Duration.seconds(stage.authorizerCacheSeconds),
    });
    const api = new RestApi(this, "RestApi", {
      restApiName: stackName(stage.name),
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: stage.domain?.disableDefaultEndpoint ?? false,
      deployOptions: {
        stageName: API_VERSION,
        throttlingRateLimit: stage.throttling.rate,
        throttlingBurstLimit: stage.throttling.burst,
        dataTraceEnabled: false, // it would log bodies and keys
        accessLogDestination: new LogGroupLogDestination(this.accessLog.logGroup),
        accessLogFormat: AccessLogFormat.custom(ACCESS_LOG_FORMAT),
      },
      defaultMethodOptions: { authorizer, authorizationType: AuthorizationType.CUSTOM },
      cloudWatchRole: false, // infra/account-stack.ts sets the role, which all APIs of an account share
    });
    Object.assign(api.node.defaultChild as CfnRestApi, TLS);
    api.node.tryRemoveChild("Endpoint"); // an output that repeats the stack's BaseUrl
    return api;
  }
}

function acknowledgeFindings(api: RestApi, stage: Stage): void {
  const reasons = {
    APIG2: "The functions validate every part of a request and name every rule it breaks.",
    COG4: "Clients are programs with API keys, which the Lambda authorizer checks; there are no users.",
    APIG6:
      "The access log has the requests. Execution logs would add error texts, which can repeat a client's key.",
    ...(!stage.wafRateLimits && {
      APIG3: "This stage is throttled to a low rate; a web ACL would cost more than it protects.",
    }),
  };
  for (const [rule, reason] of Object.entries(reasons)) acknowledge(api, rule, reason);
}
