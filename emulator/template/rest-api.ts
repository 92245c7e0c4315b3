import {
  type FindResources,
  type IntegrationProperties,
  type ResponseProperties,
  refuse,
} from "./resources.ts";

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The response of a gateway response or of a mock integration. */
function staticResponse(id: string, properties: ResponseProperties): HttpResponse {
  const { StatusCode, ResponseParameters = {}, ResponseTemplates = {} } = properties;
  const body = ResponseTemplates["application/json"] ?? "";
  const headers = Object.entries(ResponseParameters).map(([key, value]): [string, string] => {
    if (!/^'.*'$/.test(value)) refuse(id, `the header ${key} is not static`);
    return [key.slice(key.indexOf(".header.") + 8), value.slice(1, -1)];
  });
  if (/\$(context|input|util|stageVariables)\b|^\s*#/m.test(body)) refuse(id, "its body is not static");
  return { status: Number(StatusCode), headers: Object.fromEntries(headers), body };
}

/** The function that an integration's or authorizer's URI invokes, by an alias if the stage has one. */
function invoked(id: string, uri: string, find: FindResources): string {
  const name = uri.replace(/^.*[/:]([^/:]+)\/invocations$/, "$1");
  const target = find("Lambda::Alias").find((alias) => alias.id === name)?.FunctionName ?? name;
  if (!find("Lambda::Function").some((fn) => fn.id === target)) refuse(id, "the template lacks its function");
  return target;
}

function integrationOf(id: string, integration: IntegrationProperties, find: FindResources) {
  const { Type, Uri = "", PassthroughBehavior, RequestTemplates = {} } = integration;
  if (Type === "AWS_PROXY") return { type: Type, functionName: invoked(id, Uri, find) } as const;
  const [response, second] = integration.IntegrationResponses ?? [];
  // With another behavior, the client's body could select the response.
  if (Type !== "MOCK" || PassthroughBehavior !== "NEVER" || !response || second)
    refuse(id, "its integration is neither AWS_PROXY nor a MOCK with one response that passes NEVER through");
  /** the media types of a request that it has a template for */
  const mediaTypes = Object.keys(RequestTemplates);
  return { type: "MOCK", mediaTypes, response: staticResponse(id, response) } as const;
}

export type MockIntegration = Extract<Route["integration"], { type: "MOCK" }>;
export type Route = ReturnType<typeof readRoutes>[number];

function readRoutes(find: FindResources, authorizer: Authorizer | undefined) {
  const apiResources = new Map(find("ApiGateway::Resource").map((resource) => [resource.id, resource]));
  const pathOf = (id: string): string => {
    const resource = apiResources.get(id);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : "";
  };
  return find("ApiGateway::Method").map(({ id, AuthorizationType = "NONE", ...method }) => {
    const served = AuthorizationType === "NONE" || (AuthorizationType === "CUSTOM" && authorizer);
    if (!served || method.ApiKeyRequired || method.RequestValidatorId)
      refuse(id, "it needs more than the authorizer: IAM, Cognito, an API key or a request validator");
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
  const { id, Type, IdentitySource } = authorizer;
  if (second || Type !== "TOKEN" || IdentitySource !== "method.request.header.Authorization")
    refuse(second?.id ?? id, "only one authorizer, a TOKEN in the header Authorization, is supported");
  return {
    functionName: invoked(id, authorizer.AuthorizerUri, find),
    pattern: new RegExp(authorizer.IdentityValidationExpression ?? ""),
    cacheSeconds: authorizer.AuthorizerResultTtlInSeconds ?? 300,
  };
}

/** Reads the REST API of a template, and its only stage. */
export function readRestApi(find: FindResources) {
  const [api, otherApi] = find("ApiGateway::RestApi");
  const [stage, otherStage] = find("ApiGateway::Stage");
  if (!api || !stage) throw new Error("The template has no AWS::ApiGateway::RestApi with a Stage.");
  if (otherApi || otherStage) refuse((otherApi ?? otherStage)?.id ?? "", "it is the second of its type");
  if (api.Body || api.BodyS3Location || api.BinaryMediaTypes)
    refuse(api.id, "it has an OpenAPI document or binary media types");
  const [settings, others] = stage.MethodSettings ?? [];
  if (others || (settings && `${settings.HttpMethod}${settings.ResourcePath}` !== "*/*"))
    refuse(stage.id, "it has settings of single methods");
  const authorizer = readAuthorizer(find);
  return {
    routes: readRoutes(find, authorizer),
    /** by type, such as THROTTLED */
    gatewayResponses: new Map(
      find("ApiGateway::GatewayResponse").map(({ id, ...response }) => [
        response.ResponseType,
        staticResponse(id, response),
      ]),
    ),
    authorizer,
    apiStageName: stage.StageName,
    /** for all methods together: requests a second in the long run, and requests at once after a pause */
    throttling: {
      rate: settings?.ThrottlingRateLimit ?? Number.POSITIVE_INFINITY,
      burst: settings?.ThrottlingBurstLimit ?? Number.POSITIVE_INFINITY,
    },
    /** with API Gateway's $context variables */
    accessLogFormat: stage.AccessLogSetting?.Format ?? "",
  };
}
