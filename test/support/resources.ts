import { functionOutput } from "../../infra/names.ts";
import { operations } from "../../lib/operations.ts";
import { evaluate } from "../../tools/emulator/template/intrinsics.ts";
import { readTemplate } from "../../tools/generate/reviewed-templates.ts";
import type { Json } from "./json.ts";

/** The names of the functions of a stack. */
export const functionNames = [...operations.map(({ id }) => id), "authorize"];

/** What `Fn::GetAtt` of a resource becomes, whichever attribute it is; `Ref` becomes the logical id. */
export const arnOf = (id: string) => String(evaluate({ "Fn::GetAtt": [id, "Arn"] }));

/**
 * Reads a stack with all references evaluated, so that tests can follow them from one resource to another.
 *
 * @param assembly a folder with the synthesized stack
 */
export function readResources(assembly: string, stack: string) {
  const { Resources, Outputs = {} } = readTemplate(assembly, stack);
  const { resources, outputs }: Json = evaluate({ resources: Resources, outputs: Outputs });
  const find = (type: string): Json[] =>
    Object.entries<Json>(resources)
      .filter(([, { Type }]) => Type === `AWS::${type}`)
      .map(([id, { Properties, ...attributes }]) => ({ id, ...attributes, ...Properties }));
  const statementsOf = (role: string): Json[] =>
    [
      ...find("IAM::Role").flatMap(({ id, Policies = [] }) => (id === role ? Policies : [])),
      ...find("IAM::Policy").filter(({ Roles }) => Roles.includes(role)),
    ].flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  return {
    /** the resources of a type, such as `Lambda::Function`: logical ids, attributes such as DependsOn, and properties */
    find,
    /** the only resource of a type */
    only(type: string): Json {
      const [resource, second] = find(type);
      if (!resource || second) throw new Error(`The stack ${stack} does not have exactly one ${type}.`);
      return resource;
    },
    /** the value of an output */
    output: (name: string): string => outputs[name]?.Value,
    /** the statements of the policies of a role */
    statementsOf,
    /** a function by its name, such as listPets, with the actions that its role allows */
    fn(name: string): Json {
      const id = outputs[functionOutput(name)]?.Value;
      const found = find("Lambda::Function").find((resource) => resource.id === id);
      const role = find("IAM::Role").find((resource) => arnOf(resource.id) === found.Role);
      const grants = statementsOf(role.id).flatMap(({ Action, Resource }) =>
        [Action].flat().flatMap((action) => [Resource].flat().map((resource) => ({ action, resource }))),
      );
      return { ...found, grants };
    },
  };
}
