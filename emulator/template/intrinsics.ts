// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
export type Json = any;

const PSEUDO: Record<string, string> = {
  "AWS::Region": "local",
  "AWS::AccountId": "000000000000",
  "AWS::Partition": "aws",
  "AWS::URLSuffix": "localhost",
};

/** Evaluates CloudFormation's intrinsic functions; a resource's physical name is its logical id. */
export function evaluate(value: Json): Json {
  if (Array.isArray(value)) return value.map(evaluate);
  if (typeof value !== "object" || value === null) return value;
  const [[name, argument] = []] = Object.entries<Json>(value);
  switch (name) {
    case "Ref":
      return PSEUDO[argument] ?? argument;
    case "Fn::GetAtt":
      return `arn:aws:lambda:local:000000000000:function:${argument[0]}`;
    case "Fn::Join":
      return evaluate(argument[1]).join(argument[0]);
    case "Fn::Split":
      return evaluate(argument[1]).split(argument[0]);
    case "Fn::Select":
      return evaluate(argument[1])[argument[0]];
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, evaluate(member)]));
}
