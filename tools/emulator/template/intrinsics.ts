export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const PSEUDO: Record<string, string> = {
  "AWS::Region": "local",
  "AWS::AccountId": "000000000000",
  "AWS::Partition": "aws",
  "AWS::URLSuffix": "localhost",
};

/** The physical name of a resource is its logical id. */
const refer = (name: string) => PSEUDO[name] ?? name;

/** CloudFormation's intrinsic functions. Their arguments are evaluated. */
const intrinsics: Record<string, (...args: Json[]) => Json> = {
  Ref: (name) => refer(String(name)),
  // Whatever the resource and the attribute.
  "Fn::GetAtt": (id) => `arn:aws:lambda:local:000000000000:function:${id}`,
  "Fn::Join": (separator, values) => [values].flat().join(String(separator)),
  "Fn::Split": (separator, text) => String(text).split(String(separator)),
  "Fn::Select": (index, values) => [values].flat()[Number(index)] ?? null,
  "Fn::Sub": (text) => String(text).replaceAll(/\$\{(.+?)\}/g, (_, name: string) => refer(name)),
};

/**
 * Evaluates the intrinsic functions in a value.
 *
 * @throws Error in one line for a function that it does not know
 */
export function evaluate(value: Json): Json {
  if (Array.isArray(value)) return value.map(evaluate);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, evaluate(member)] as const);
  const [[name, argument] = ["", null]] = members;
  const intrinsic = intrinsics[name];
  if (intrinsic) return intrinsic(...[argument].flat());
  if (name.startsWith("Fn::")) throw new Error(`The template has ${name}, which is not supported.`);
  return Object.fromEntries(members);
}
