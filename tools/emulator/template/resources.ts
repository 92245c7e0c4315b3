import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { evaluate, type Json } from "./intrinsics.ts";

/** A static response: headers, whose values are quoted, and a body. */
export interface ResponseProperties {
  StatusCode: string;
  ResponseParameters?: Record<string, string>;
  ResponseTemplates: { "application/json": string };
}

export type IntegrationProperties =
  | { Type: "AWS_PROXY"; Uri: string }
  | { Type: "MOCK"; RequestTemplates: object; IntegrationResponses: [ResponseProperties] };

/** The types of resource that are read, each with the properties that are read. */
interface Properties {
  "ApiGateway::Authorizer": {
    AuthorizerUri: string;
    IdentityValidationExpression: string;
    AuthorizerResultTtlInSeconds: number;
  };
  "ApiGateway::GatewayResponse": ResponseProperties & { ResponseType: string };
  "ApiGateway::Method": {
    HttpMethod: string;
    ResourceId: string;
    AuthorizationType: string;
    Integration: IntegrationProperties;
  };
  "ApiGateway::Resource": { ParentId: string; PathPart: string };
  "ApiGateway::Stage": { StageName: string };
  "DynamoDB::Table": Omit<CreateTableCommandInput, "TableName">;
  "Lambda::Alias": { FunctionName: string };
  "Lambda::Function": {
    Code: { S3Key: string };
    Handler: string;
    Environment?: { Variables: Record<string, string> };
    /** in seconds */
    Timeout: number;
  };
}

/** The types of the three services that are read, and those that change nothing on this machine. */
const SERVED =
  /^AWS::(ApiGateway::(Authorizer|BasePathMapping|Deployment|DomainName|GatewayResponse|Method|Resource|RestApi|Stage)|DynamoDB::Table|Lambda::(Alias|Function|Permission|Version))$/;

/** The properties of a resource, with its logical id. */
export type Resource<T extends keyof Properties> = Properties[T] & { id: string };
/** Returns the resources of a type. */
export type FindResources = <T extends keyof Properties>(type: T) => Resource<T>[];

export interface Template {
  Resources: Record<string, { Type: string; Properties: Json }>;
  Outputs: Record<string, { Value: Json }>;
}

/**
 * Returns how to find the resources of a template.
 *
 * @throws Error in one line for a resource of API Gateway, Lambda or DynamoDB whose type is not imitated
 */
export function resourcesOf({ Resources }: Template): FindResources {
  for (const [id, { Type }] of Object.entries(Resources))
    if (/^AWS::(ApiGateway|DynamoDB|Lambda)/.test(Type) && !SERVED.test(Type))
      throw new Error(`The resource ${id} of the template cannot be served: ${Type} is not supported.`);
  return <T extends keyof Properties>(type: T) =>
    Object.entries(Resources)
      .filter(([, { Type }]) => Type === `AWS::${type}`)
      .map(([id, { Properties }]) => ({ id, ...(evaluate(Properties) as Properties[T]) }));
}
