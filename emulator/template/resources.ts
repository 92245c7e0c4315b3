import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { evaluate, type Json } from "./intrinsics.ts";

/** What a template says about a response: static headers, whose values are quoted, and bodies by media type. */
export interface ResponseProperties {
  StatusCode?: string;
  ResponseParameters?: Record<string, string>;
  ResponseTemplates?: Record<string, string>;
}

export interface IntegrationProperties {
  Type: string;
  Uri?: string;
  PassthroughBehavior?: string;
  RequestTemplates?: object;
  IntegrationResponses?: ResponseProperties[];
}

type Throttling = { ThrottlingRateLimit?: number; ThrottlingBurstLimit?: number };

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
    MethodSettings?: (Throttling & { HttpMethod: string; ResourcePath: string })[];
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

/** The types of the three services that are read, and those that change nothing on this machine. */
const SERVED =
  /^AWS::(ApiGateway::(Account|Authorizer|BasePathMapping|Deployment|DomainName|GatewayResponse|Method|Resource|RestApi|Stage)|DynamoDB::Table|Lambda::(Alias|Function|Permission|Version))$/;

/** The properties of a resource, with its logical id. */
export type Resource<T extends keyof Properties> = Properties[T] & { id: string };
/** Returns the resources of a type. */
export type FindResources = <T extends keyof Properties>(type: T) => Resource<T>[];

/** @throws Error in one line that says which resource cannot be served, and why */
export function refuse(id: string, reason: string): never {
  throw new Error(`The resource ${id} of the template cannot be served: ${reason}.`);
}

export interface Template {
  Resources?: Record<string, { Type: string; Properties?: Json }>;
  Outputs?: Record<string, { Value: Json }>;
  Parameters?: object;
}

/**
 * Returns how to find the resources of a template.
 *
 * @throws Error in one line for a resource of API Gateway, Lambda or DynamoDB that is not imitated
 */
export function resourcesOf({ Resources = {}, Parameters }: Template): FindResources {
  for (const [id, { Type }] of Object.entries(Resources))
    if (/^AWS::(ApiGateway|DynamoDB|Lambda|Serverless)/.test(Type) && !SERVED.test(Type))
      refuse(id, `${Type} is not supported`);
  const read = (id: string, properties: Json = {}) => {
    try {
      return evaluate(properties, Parameters);
    } catch (error) {
      return refuse(id, (error as Error).message);
    }
  };
  return (type) =>
    Object.entries(Resources)
      .filter(([, { Type }]) => Type === `AWS::${type}`)
      .map(([id, { Properties }]) => Object.assign({ id }, read(id, Properties) as never));
}
