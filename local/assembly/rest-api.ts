import type { Json } from "./intrinsics.ts";

export interface Route {
  /** an HTTP method, or ANY */
  method: string;
  /** as in the template, e.g. /pets/{petId} */
  path: string;
  /** whether API Gateway calls the authorizer; otherwise the route is public */
  requiresAuthorization: boolean;
  integration: { type: "AWS_PROXY"; functionName: string } | MockIntegration;
}

export interface MockIntegration {
  type: "MOCK";
  /** the media types of a request that it has a template for */
  mediaTypes: string[];
  response: HttpResponse;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** How many requests a stage accepts. */
export interface ThrottleSettings {
  /** requests a second, in the long run */
  rate: number;
  /** requests at once, after a pause */
  burst: number;
}

/** What a template says about a REST API and its only stage. */
export interface RestApiDefinition {
  routes: Route[];
  /** by type, such as THROTTLED */
  gatewayResponses: Map<string, HttpResponse>;
  authorizer: { functionName: string; pattern: RegExp; cacheSeconds: number };
  stageName: string;
  /** for all methods together */
  throttling: ThrottleSettings;
  /** with API Gateway's $context variables */
  accessLogFormat: string;
}

/** Returns the resources of a type, such as `Lambda::Function`, with their logical ids. */
export type FindResources = (type: string) => Json[];

/** Reads the REST API of a template. */
export function readRestApi(find: FindResources): RestApiDefinition {
  const gatewayResponses = find("ApiGateway::GatewayResponse");
  return {
    routes: readRoutes(find),
    gatewayResponses: new Map(
      gatewayResponses.map((response) => [response.ResponseType, staticResponse(response)]),
    ),
    authorizer: readAuthorizer(find),
    ...readStage(find),
  };
}

const unquote = (value: string) => value.replace(/^'(.*)'$/, "$1");

/** Static headers: the keys end in their names, and their values are quoted. */
const staticHeaders = (parameters: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries(parameters).map(([key, value]) => [
      key.slice(key.indexOf(".header.") + 8),
      unquote(value),
    ]),
  );

/** The response of a gateway response or of a mock integration. */
const staticResponse = ({ StatusCode, ResponseParameters, ResponseTemplates }: Json): HttpResponse => ({
  status: Number(StatusCode),
  headers: staticHeaders(ResponseParameters),
  body: ResponseTemplates["application/json"],
});

/** The function that an integration's or authorizer's URI invokes. */
const invoked = (uri: string) => /:function:([^/:]+)/.exec(uri)?.[1] ?? uri;

function integrationOf(integration: Record<string, Json>): Route["integration"] {
  if (integration.Type === "AWS_PROXY") return { type: "AWS_PROXY", functionName: invoked(integration.Uri) };
  const [response] = integration.IntegrationResponses;
  return {
    type: "MOCK",
    mediaTypes: Object.keys(integration.RequestTemplates),
    response: staticResponse(response),
  };
}

function readRoutes(find: FindResources): Route[] {
  const apiResources = new Map(find("ApiGateway::Resource").map((resource) => [resource.id, resource]));
  const pathOf = (id: string): string => {
    const resource = apiResources.get(id);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : "";
  };
  return find("ApiGateway::Method").map((method) => ({
    method: method.HttpMethod,
    path: pathOf(method.ResourceId),
    requiresAuthorization: method.AuthorizationType !== "NONE",
    integration: integrationOf(method.Integration),
  }));
}

function readAuthorizer(find: FindResources): RestApiDefinition["authorizer"] {
  const [authorizer] = find("ApiGateway::Authorizer");
  return {
    functionName: invoked(authorizer.AuthorizerUri),
    pattern: new RegExp(authorizer.IdentityValidationExpression),
    cacheSeconds: authorizer.AuthorizerResultTtlInSeconds,
  };
}

function readStage(
  find: FindResources,
): Pick<RestApiDefinition, "stageName" | "throttling" | "accessLogFormat"> {
  const [stage] = find("ApiGateway::Stage");
  const everyMethod = stage.MethodSettings.find(
    ({ ResourcePath, HttpMethod }: Json) => ResourcePath === "/*" && HttpMethod === "*",
  );
  return {
    stageName: stage.StageName,
    throttling: { rate: everyMethod.ThrottlingRateLimit, burst: everyMethod.ThrottlingBurstLimit },
    accessLogFormat: stage.AccessLogSetting.Format,
  };
}
