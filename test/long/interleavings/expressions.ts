export type Item = Record<string, unknown>;

/** The document client returns every number as a bigint (lib/dynamo/pet-store.ts). */
export const stored = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, typeof value === "number" ? BigInt(value) : value]),
  );

export const unsupported = (what: unknown) =>
  new Error(`The model does not support ${JSON.stringify(what)}.`);

/** Evaluates the part of DynamoDB's expression language that the stores use. */
export function holds(expression: string, item: Item | undefined, names: Item, values: Item): boolean {
  const termHolds = (term: string) => {
    const [, exists, path = ""] = /^attribute_(exists|not_exists)\(([\w#]+)\)$/.exec(term) ?? [];
    if (exists) return (item?.[String(names[path] ?? path)] !== undefined) === (exists === "exists");
    const [, left = "", operator, right = ""] = /^([\w#]+) (=|<=|>) (:\w+)$/.exec(term) ?? [];
    const [attribute, value] = [item?.[String(names[left] ?? left)], stored(values)[right]];
    if (!operator || value === undefined) throw unsupported(term);
    // A comparison with a missing attribute or another type is false.
    if (typeof attribute !== typeof value) return false;
    if (operator === "=") return attribute === value;
    return operator === ">"
      ? (attribute as bigint) > (value as bigint)
      : (attribute as bigint) <= (value as bigint);
  };
  return expression.split(" OR ").some((all) => all.split(" AND ").every(termHolds));
}
