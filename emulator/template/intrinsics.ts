/** A value of a template. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const PSEUDO: Record<string, string> = {
  "AWS::Region": "local",
  "AWS::AccountId": "000000000000",
  "AWS::Partition": "aws",
  "AWS::URLSuffix": "localhost",
};

/**
 * Evaluates CloudFormation's intrinsic functions. A resource's physical name is its logical id, and each of its attributes
 * is the ARN of a function.
 *
 * @param parameters of the template, which have no values here
 * @throws Error for a function that it does not know, or a reference to a parameter
 */
export function evaluate(value: Json, parameters: object = {}): Json {
  const inner = (member: Json) => evaluate(member, parameters);
  if (Array.isArray(value)) return value.map(inner);
  if (typeof value !== "object" || value === null) return value;
  const [[name = "", argument = ""] = []] = Object.entries(value);
  const list = () => inner(argument) as [string, string & string[]];
  switch (name) {
    case "Ref":
      if (String(argument) in parameters) throw new Error(`the parameter ${argument} has no value here`);
      return PSEUDO[String(argument)] ?? argument;
    case "Fn::GetAtt":
      return `arn:aws:lambda:local:000000000000:function:${[argument].flat().join(".").split(".")[0]}`;
    case "Fn::Join":
      return list()[1].join(list()[0]);
    case "Fn::Split":
      return list()[1].split(list()[0]);
    case "Fn::Select":
      return list()[1][Number(list()[0])] ?? null;
    case "Fn::Sub":
      return String(argument).replaceAll(/\$\{([\w:.]+)\}/g, (_, id: string) =>
        String(inner(id.includes(".") ? { "Fn::GetAtt": id } : { Ref: id })),
      );
  }
  if (name.startsWith("Fn::")) throw new Error(`${name} is not supported`);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inner(member)]));
}
