import type { Json } from "./json.ts";

/** A request as IAM sees it. A resource policy also compares the principal. */
interface IamRequest {
  action: string;
  resource?: string;
  /** such as `{ Service: "cloudwatch.amazonaws.com" }` */
  principal?: Record<string, string>;
  /** condition keys, such as `aws:SourceAccount` */
  context?: Record<string, string | undefined>;
}

const list = (value: Json): string[] => [value ?? []].flat();

/** IAM's wildcards: `*` is any text and `?` any character. */
const like = (pattern: string, text: string): boolean =>
  new RegExp(`^${RegExp.escape(pattern).replaceAll("\\*", ".*").replaceAll("\\?", ".")}$`, "s").test(text);

const operators: Record<string, (expected: string, actual: string) => boolean> = {
  Bool: (expected, actual) => expected === actual,
  StringEquals: (expected, actual) => expected === actual,
  // Each of the six parts of an ARN is compared by itself; the last can have colons.
  ArnLike(expected, actual) {
    const parts = (arn: string) => [...arn.split(":").slice(0, 5), arn.split(":").slice(5).join(":")];
    return parts(expected).every((pattern, n) => like(pattern, parts(actual)[n] ?? ""));
  },
};

/** Whether a statement names a principal. `*`, for all AWS accounts, is everybody. */
const isFor = (named: Json, principal: Record<string, string>): boolean =>
  named === "*" ||
  list(named?.AWS).includes("*") ||
  Object.entries(principal).some(([type, value]) => list(named?.[type]).includes(value));

/** Whether a statement applies to a request. It throws for a part of a policy that no policy of this service has. */
function applies(
  { Sid, Effect, Action, Resource, Principal, Condition = {}, ...others }: Json,
  { action, resource, principal, context = {} }: IamRequest,
): boolean {
  if (Object.keys(others).length > 0) throw new Error(`This test cannot evaluate ${Object.keys(others)}.`);
  return (
    list(Action).some((pattern) => like(pattern.toLowerCase(), action.toLowerCase())) &&
    (resource === undefined || list(Resource).some((pattern) => like(pattern, resource))) &&
    (principal === undefined || isFor(Principal, principal)) &&
    Object.entries<Json>(Condition).every(([operator, keys]) => {
      const holds = operators[operator];
      if (!holds) throw new Error(`This test cannot evaluate ${operator}.`);
      return Object.entries<Json>(keys).every(([key, expected]) => {
        const actual = context[key];
        return actual !== undefined && list(expected).some((value) => holds(value, actual));
      });
    })
  );
}

/**
 * Returns whether policies allow a request: a statement allows it and none denies it (IAM guide, "Policy evaluation
 * logic").
 *
 * @param statements of identity policies, or of one resource or trust policy
 */
export function allows(statements: Json[], request: IamRequest): boolean {
  const effects = statements.filter((statement) => applies(statement, request)).map(({ Effect }) => Effect);
  return effects.includes("Allow") && !effects.includes("Deny");
}
