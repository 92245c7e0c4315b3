import { evaluate, type Json } from "../../infra/assembly/intrinsics.ts";
import { pascalCase } from "../../infra/pascal-case.ts";
import { readTemplate } from "./normalize.ts";

/** A resource, with what the template says about it. */
type Resource = { id: string; Properties: Json; [attribute: string]: Json };

/** What `Fn::GetAtt` of a resource becomes, whichever attribute it is; `Ref` becomes the logical id. */
export const arnOf = (id: string): string => evaluate({ "Fn::GetAtt": [id, "Arn"] });

/**
 * Reads a stack with all references evaluated, so that tests can follow them from one resource to another.
 *
 * @param assembly a folder with the synthesized stack
 */
export function readResources(assembly = "", stack: string) {
  const { Resources, Outputs = {} } = evaluate(readTemplate(assembly, stack));
  const resources = Object.entries<Json>(Resources).map(([id, resource]): Resource => ({ id, ...resource }));
  const find = (type: string) => resources.filter(({ Type }) => Type === `AWS::${type}`);
  const statementsOf = (role: string): Json[] =>
    find("IAM::Policy")
      .filter(({ Properties }) => Properties.Roles.includes(role))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
  return {
    /** the resources of a type, such as `Lambda::Function` */
    find,
    /** the properties of the only resource of a type, with its id */
    only(type: string): Json {
      const [resource, second] = find(type);
      if (!resource || second) throw new Error(`The stack ${stack} does not have exactly one ${type}.`);
      return { id: resource.id, ...resource.Properties };
    },
    /** the methods and authorizers of the API that call a function or an alias */
    callersOf: (id = "") =>
      [...find("ApiGateway::Authorizer"), ...find("ApiGateway::Method")].filter(({ Properties }) =>
        (Properties.AuthorizerUri ?? Properties.Integration.Uri)?.endsWith(`/functions/${id}/invocations`),
      ),
    /** the value of an output */
    output: (name: string): string => Outputs[name]?.Value,
    /** the statements of the policies of a role */
    statementsOf,
    /** the properties of a function by its name, such as listPets, with the actions that its role allows */
    fn(name: string): Json {
      const id = Outputs[`${pascalCase(name)}FunctionName`]?.Value;
      const { Properties } = find("Lambda::Function").find((resource) => resource.id === id) as Resource;
      const role = find("IAM::Role").find((resource) => arnOf(resource.id) === Properties.Role);
      const grants = statementsOf(role?.id ?? "").flatMap(({ Action, Resource }) =>
        [Action].flat().flatMap((action) => [Resource].flat().map((resource) => ({ action, resource }))),
      );
      return { id, ...Properties, grants };
    },
  };
}
