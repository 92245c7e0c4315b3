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
  if (Array.isArray(value)) return value.map((member) => evaluate(member, parameters));
  if (typeof value !== "object" || value === null) return value;
  const [name = ""] = Object.keys(value);
  const members = Object.entries(value).map(([key, member]) => [key, evaluate(member, parameters)] as const);
  const [[, argument] = []] = members;
  const list = [argument ?? ""].flat() as [string, string & string[]];
  switch (name) {
    case "Ref":
      if (list[0] in parameters) throw new Error(`the parameter ${argument} has no value here`);
      return PSEUDO[list[0]] ?? list[0];
    case "Fn::GetAtt":
      return `arn:aws:lambda:local:000000000000:function:${list[0]}`;
    case "Fn::Join":
      return list[1].join(list[0]);
    case "Fn::Split":
      return list[1].split(list[0]);
    case "Fn::Select":
      return list[1][Number(list[0])] ?? null;
    case "Fn::Sub":
      return list[0].replaceAll(/\$\{(.+?)(\.\w+)?\}/g, (_, id: string, attribute?: string) =>
        String(evaluate(attribute ? { "Fn::GetAtt": [id] } : { Ref: id }, parameters)),
      );
  }
  if (name.startsWith("Fn::")) throw new Error(`${name} is not supported`);
  return Object.fromEntries(members);
}
