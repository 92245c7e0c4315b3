import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { evaluate, type Json } from "./intrinsics.ts";

/** What a template says about a response: static headers, whose values are quoted, and static bodies by media type. */
export interface ResponseProperties {
  StatusCode?: string;
  ResponseParameters?: Record<string, string>;
  ResponseTemplates?: Record<string, string>;
}

export interface IntegrationProperties {
  Type: string;
  Uri?: string;
  PassthroughBehavior?: string;
  RequestTemplates?: Record<string, string>;
  IntegrationResponses?: (ResponseProperties & { SelectionPattern?: string })[];
}

/** The types of resource that are read, each with the properties that are read. */
interface Properties {
  "ApiGateway::Authorizer": {
    Type: string;
    AuthorizerUri: string;
    IdentitySource: string;
    IdentityValidationExpression?: string;
    AuthorizerResultTtlInSeconds?: number;
  };
  "ApiGateway::GatewayResponse": ResponseProperties & { ResponseType: string };
  "ApiGateway::Method": {
    HttpMethod: string;
    ResourceId: string;
    AuthorizationType?: string;
    ApiKeyRequired?: boolean;
    RequestValidatorId?: string;
    Integration: IntegrationProperties;
  };
  "ApiGateway::Resource": { ParentId: string; PathPart: string };
  "ApiGateway::RestApi": { Body?: object; BodyS3Location?: object; BinaryMediaTypes?: string[] };
  "ApiGateway::Stage": {
    StageName: string;
    MethodSettings?: {
      HttpMethod: string;
      ResourcePath: string;
      ThrottlingRateLimit?: number;
      ThrottlingBurstLimit?: number;
    }[];
    AccessLogSetting?: { Format: string };
  };
  "DynamoDB::Table": Omit<CreateTableCommandInput, "TableName">;
  "Lambda::Alias": { FunctionName: string };
  "Lambda::Function": {
    Code: { S3Key?: string };
    Handler: string;
    Runtime: string;
    Environment?: { Variables: Record<string, string> };
    /** in seconds */
    Timeout?: number;
    MemorySize?: number;
  };
}

/** The types of the three services that this machine serves. Those without a line above change nothing here. */
const knownTypes = [
  "ApiGateway::Account",
  "ApiGateway::Authorizer",
  "ApiGateway::BasePathMapping",
  "ApiGateway::Deployment",
  "ApiGateway::DomainName",
  "ApiGateway::GatewayResponse",
  "ApiGateway::Method",
  "ApiGateway::Resource",
  "ApiGateway::RestApi",
  "ApiGateway::Stage",
  "DynamoDB::Table",
  "Lambda::Alias",
  "Lambda::Function",
  "Lambda::Permission",
  "Lambda::Version",
];

/** The properties of a resource, with its logical id. */
export type Resource<T extends keyof Properties> = Properties[T] & { id: string };
/** Returns the resources of a type. */
export type FindResources = <T extends keyof Properties>(type: T) => Resource<T>[];

/** @throws Error in one line that says which resource cannot be served, and why */
export function refuse(id: string, reason: string): never {
  throw new Error(`The resource ${id} of the template cannot be served: ${reason}.`);
}

/**
 * Returns how to find the resources of a template.
 *
 * @param resources by logical id
 * @param parameters of the template
 * @throws Error in one line for a resource of API Gateway, Lambda or DynamoDB that is not imitated
 */
export function resourcesOf(
  resources: Record<string, { Type: string; Properties?: Json }>,
  parameters: object,
): FindResources {
  for (const [id, { Type }] of Object.entries(resources)) {
    const [, type] = /^AWS::((?:ApiGateway\w*|Lambda|DynamoDB|Serverless)::.+)/.exec(Type) ?? [];
    if (type && !knownTypes.includes(type)) refuse(id, `${Type} is not supported`);
  }
  const properties = (id: string, value: Json = {}) => {
    try {
      return evaluate(value, parameters);
    } catch (error) {
      return refuse(id, (error as Error).message);
    }
  };
  return (type) =>
    Object.entries(resources)
      .filter(([, { Type }]) => Type === `AWS::${type}`)
      .map(([id, { Properties }]) => Object.assign({ id }, properties(id, Properties) as never));
}
