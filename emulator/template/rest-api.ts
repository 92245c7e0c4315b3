import type { Json } from "./intrinsics.ts";

export type Route = ReturnType<typeof readRoutes>[number];

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

/** Returns the resources of a type, such as `Lambda::Function`, with their logical ids. */
export type FindResources = (type: string) => Json[];

/** Static headers: the keys end in their names, and their values are quoted. */
const staticHeaders = (parameters: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries(parameters).map(([key, value]) => [
      key.slice(key.indexOf(".header.") + 8),
      value.replace(/^'(.*)'$/, "$1"),
    ]),
  );

/** The response of a gateway response or of a mock integration. */
const staticResponse = ({ StatusCode, ResponseParameters, ResponseTemplates }: Json): HttpResponse => ({
  status: Number(StatusCode),
  headers: staticHeaders(ResponseParameters),
  body: ResponseTemplates["application/json"],
});

/** The function that an integration's or authorizer's URI invokes, by an alias if the stage has one. */
function invoked(uri: string, find: FindResources): string {
  const name = uri.replace(/^.*[/:]([^/:]+)\/invocations$/, "$1");
  return find("Lambda::Alias").find(({ id }) => id === name)?.FunctionName ?? name;
}

function integrationOf({ Type, Uri, ...mock }: Json, find: FindResources) {
  if (Type === "AWS_PROXY") return { type: "AWS_PROXY" as const, functionName: invoked(Uri, find) };
  const response = staticResponse(mock.IntegrationResponses[0]);
  const mediaTypes = Object.keys(mock.RequestTemplates);
  return { type: "MOCK", mediaTypes, response } satisfies MockIntegration;
}

function readRoutes(find: FindResources) {
  const apiResources = new Map(find("ApiGateway::Resource").map((resource) => [resource.id, resource]));
  const pathOf = (id: string): string => {
    const resource = apiResources.get(id);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : "";
  };
  return find("ApiGateway::Method").map((method) => ({
    /** an HTTP method, or ANY */
    method: String(method.HttpMethod),
    /** as in the template, e.g. /pets/{petId} */
    path: pathOf(method.ResourceId),
    /** whether API Gateway calls the authorizer; otherwise the route is public */
    requiresAuthorization: method.AuthorizationType !== "NONE",
    integration: integrationOf(method.Integration, find),
  }));
}

/** What a template says about a REST API and its only stage. */
export type RestApiDefinition = ReturnType<typeof readRestApi>;

/** Reads the REST API of a template. */
export function readRestApi(find: FindResources) {
  const [authorizer] = find("ApiGateway::Authorizer");
  const [stage] = find("ApiGateway::Stage");
  const everyMethod = stage.MethodSettings.find(
    ({ ResourcePath, HttpMethod }: Json) => ResourcePath === "/*" && HttpMethod === "*",
  );
  return {
    routes: readRoutes(find),
    /** by type, such as THROTTLED */
    gatewayResponses: new Map<string, HttpResponse>(
      find("ApiGateway::GatewayResponse").map((response) => [
        response.ResponseType,
        staticResponse(response),
      ]),
    ),
    authorizer: {
      functionName: invoked(authorizer.AuthorizerUri, find),
      pattern: new RegExp(authorizer.IdentityValidationExpression),
      cacheSeconds: Number(authorizer.AuthorizerResultTtlInSeconds),
    },
    apiStageName: String(stage.StageName),
    /** for all methods together: requests a second in the long run, and requests at once after a pause */
    throttling: {
      rate: Number(everyMethod.ThrottlingRateLimit),
      burst: Number(everyMethod.ThrottlingBurstLimit),
    },
    /** with API Gateway's $context variables */
    accessLogFormat: String(stage.AccessLogSetting.Format),
  };
}
