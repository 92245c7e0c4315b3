import type { FindResources, IntegrationProperties, ResponseProperties } from "./resources.ts";

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The response of a gateway response or of a mock integration. */
function staticResponse(properties: ResponseProperties): HttpResponse {
  const { StatusCode, ResponseParameters = {}, ResponseTemplates } = properties;
  const headers = Object.entries(ResponseParameters).map(([key, value]) => [
    key.slice(key.indexOf(".header.") + 8),
    value.slice(1, -1),
  ]);
  return {
    status: Number(StatusCode),
    headers: Object.fromEntries(headers),
    body: ResponseTemplates["application/json"],
  };
}

/** The function that an integration's or authorizer's URI invokes, by its own name or by that of an alias. */
function invoked(uri: string, find: FindResources): string {
  const name = uri.replace(/^.*[/:]([^/:]+)\/invocations$/, "$1");
  return find("Lambda::Alias").find(({ id }) => id === name)?.FunctionName ?? name;
}

function integrationOf(integration: IntegrationProperties, find: FindResources) {
  if (integration.Type === "AWS_PROXY")
    return { type: integration.Type, functionName: invoked(integration.Uri, find) } as const;
  return {
    type: integration.Type,
    /** the media types of a request that it has a template for */
    mediaTypes: Object.keys(integration.RequestTemplates),
    response: staticResponse(integration.IntegrationResponses[0]),
  } as const;
}

export type MockIntegration = Extract<Route["integration"], { type: "MOCK" }>;
export type Route = ReturnType<typeof readRoutes>[number];

function readRoutes(find: FindResources) {
  const apiResources = new Map(find("ApiGateway::Resource").map((resource) => [resource.id, resource]));
  const pathOf = (id: string): string => {
    const resource = apiResources.get(id);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : "";
  };
  return find("ApiGateway::Method").map((method) => ({
    /** an HTTP method, or ANY */
    method: method.HttpMethod,
    /** as in the template, with parameters such as {id} */
    path: pathOf(method.ResourceId),
    /** whether API Gateway calls the authorizer; otherwise the route is public */
    requiresAuthorization: method.AuthorizationType === "CUSTOM",
    integration: integrationOf(method.Integration, find),
  }));
}

export type Authorizer = ReturnType<typeof readRestApi>["authorizer"];

/** Reads the REST API of a template, its authorizer and its only stage. */
export function readRestApi(find: FindResources) {
  const [authorizer] = find("ApiGateway::Authorizer");
  const [stage] = find("ApiGateway::Stage");
  if (!authorizer || !stage) throw new Error("The template has no REST API with an authorizer and a stage.");
  return {
    routes: readRoutes(find),
    /** by type, such as UNAUTHORIZED */
    gatewayResponses: Object.fromEntries(
      find("ApiGateway::GatewayResponse").map((one) => [one.ResponseType, staticResponse(one)]),
    ) as Record<string, HttpResponse>,
    authorizer: {
      functionName: invoked(authorizer.AuthorizerUri, find),
      pattern: new RegExp(authorizer.IdentityValidationExpression),
      cacheSeconds: authorizer.AuthorizerResultTtlInSeconds,
    },
    apiStageName: stage.StageName,
  };
}
