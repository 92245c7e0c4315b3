import {
  type FindResources,
  type IntegrationProperties,
  type ResponseProperties,
  refuse,
} from "./resources.ts";

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

/** The response of a gateway response or of a mock integration. It must be static. */
function staticResponse(
  id: string,
  { StatusCode, ResponseParameters = {}, ResponseTemplates = {} }: ResponseProperties,
): HttpResponse {
  const headers = Object.entries(ResponseParameters).map(([key, value]): [string, string] => {
    const [, text] = /^'(.*)'$/.exec(value) ?? refuse(id, `the value ${value} of a header is not static`);
    return [key.slice(key.indexOf(".header.") + 8), text ?? ""];
  });
  const body = ResponseTemplates["application/json"] ?? "";
  if (/\$(context|input|util|stageVariables)\b|^\s*#/m.test(body)) refuse(id, "its body is not static");
  return { status: Number(StatusCode), headers: Object.fromEntries(headers), body };
}

/** The function that an integration's or authorizer's URI invokes, directly or by an alias. */
function invoked(id: string, uri: string, find: FindResources): string {
  const name = uri.replace(/^.*[/:]([^/:]+)\/invocations$/, "$1");
  const target = find("Lambda::Alias").find((alias) => alias.id === name)?.FunctionName ?? name;
  if (!find("Lambda::Function").some((fn) => fn.id === target)) refuse(id, "the template lacks its function");
  return target;
}

function integrationOf(id: string, integration: IntegrationProperties, find: FindResources) {
  const { Type, Uri = "", PassthroughBehavior, RequestTemplates = {} } = integration;
  if (Type === "AWS_PROXY") return { type: Type, functionName: invoked(id, Uri, find) } as const;
  if (Type !== "MOCK") refuse(id, `an integration ${Type} is not supported`);
  // Other behaviors let the client's body select the response.
  if (PassthroughBehavior !== "NEVER")
    refuse(id, "the PassthroughBehavior of a mock integration must be NEVER");
  const [response, second] = integration.IntegrationResponses ?? [];
  if (!response || second) refuse(id, "a mock integration must have exactly one response");
  const mediaTypes = Object.keys(RequestTemplates);
  return { type: "MOCK", mediaTypes, response: staticResponse(id, response) } satisfies MockIntegration;
}

export type Route = ReturnType<typeof readRoutes>[number];

function readRoutes(find: FindResources) {
  const apiResources = new Map(find("ApiGateway::Resource").map((resource) => [resource.id, resource]));
  const pathOf = (id: string): string => {
    const resource = apiResources.get(id);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : "";
  };
  return find("ApiGateway::Method").map(({ id, AuthorizationType = "NONE", ...method }) => {
    if (!["NONE", "CUSTOM"].includes(AuthorizationType)) refuse(id, `${AuthorizationType} is not supported`);
    if (method.ApiKeyRequired || method.RequestValidatorId)
      refuse(id, "API keys and request validators are not supported");
    return {
      /** an HTTP method, or ANY */
      method: method.HttpMethod,
      /** as in the template, e.g. /pets/{petId} */
      path: pathOf(method.ResourceId),
      /** whether API Gateway calls the authorizer; otherwise the route is public */
      requiresAuthorization: AuthorizationType === "CUSTOM",
      integration: integrationOf(id, method.Integration, find),
    };
  });
}

export type Authorizer = NonNullable<ReturnType<typeof readAuthorizer>>;

function readAuthorizer(find: FindResources) {
  const [authorizer, second] = find("ApiGateway::Authorizer");
  if (!authorizer) return undefined;
  const { id, Type, AuthorizerUri, IdentitySource, AuthorizerResultTtlInSeconds = 300 } = authorizer;
  if (second) refuse(second.id, "a second authorizer is not supported");
  if (Type !== "TOKEN" || IdentitySource !== "method.request.header.Authorization")
    refuse(id, "only an authorizer of the type TOKEN that reads Authorization is supported");
  return {
    functionName: invoked(id, AuthorizerUri, find),
    pattern: new RegExp(authorizer.IdentityValidationExpression ?? ""),
    cacheSeconds: AuthorizerResultTtlInSeconds,
  };
}

/** For all methods together: requests a second in the long run, and requests at once after a pause. */
export interface Throttling {
  rate: number;
  burst: number;
}

function readStage(find: FindResources) {
  const [stage, second] = find("ApiGateway::Stage");
  if (!stage) throw new Error("The template has no AWS::ApiGateway::Stage.");
  if (second) refuse(second.id, "a second stage is not supported");
  const [settings, others] = stage.MethodSettings ?? [];
  if (others || (settings && `${settings.HttpMethod}${settings.ResourcePath}` !== "*/*"))
    refuse(stage.id, "settings of single methods are not supported");
  const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = settings ?? {};
  return {
    apiStageName: stage.StageName,
    throttling: (rate === undefined || burst === undefined ? undefined : { rate, burst }) as
      | Throttling
      | undefined,
    /** with API Gateway's $context variables */
    accessLogFormat: stage.AccessLogSetting?.Format ?? "",
  };
}

/** Reads the REST API of a template, and its only stage. */
export function readRestApi(find: FindResources) {
  const [api, second] = find("ApiGateway::RestApi");
  if (second) refuse(second.id, "a second API is not supported");
  if (api?.Body || api?.BodyS3Location || api?.BinaryMediaTypes)
    refuse(api.id, "an OpenAPI document or binary media types are not supported");
  const routes = readRoutes(find);
  const authorizer = readAuthorizer(find);
  if (!authorizer && routes.some(({ requiresAuthorization }) => requiresAuthorization))
    throw new Error("The template has no AWS::ApiGateway::Authorizer.");
  return {
    routes,
    authorizer,
    /** by type, such as THROTTLED */
    gatewayResponses: new Map(
      find("ApiGateway::GatewayResponse").map((response) => [
        response.ResponseType,
        staticResponse(response.id, response),
      ]),
    ),
    ...readStage(find),
  };
}
