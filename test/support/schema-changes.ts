/** A JSON Schema without references outside its document. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  [keyword: string]: unknown;
}

/** Finds what a reference names. */
export type Resolve = (schema: Schema) => Schema;

/** What differs between two schemas, each in a few words with the place where. */
type Changes = string[];

const LOWER = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
const UPPER = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];
/** What cannot be compared further: any difference counts. */
const OPAQUE = ["pattern", "format", "const", "anyOf", "oneOf", "allOf", "not"];

const typesOf = ({ type }: Schema) => (type === undefined ? undefined : [type].flat());
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The rules by which `narrow` takes less than `wide` does, members aside. */
function narrower(wide: Schema, narrow: Schema): Changes {
  const changes: Changes = [];
  const [types, fewer] = [typesOf(wide), typesOf(narrow)];
  const kept = (type: string) => fewer?.includes(type) || (type === "integer" && fewer?.includes("number"));
  if (fewer && !types?.every(kept)) changes.push(`type ${types ?? "any"} to ${fewer}`);

  const values = narrow.enum;
  if (values && !wide.enum) changes.push("an enum");
  for (const value of wide.enum ?? []) {
    if (values && !values.includes(value)) changes.push(`enum value ${value}`);
  }
  const limit = (schema: Schema, name: string, none: number) => Number(schema[name] ?? none);
  for (const name of LOWER) {
    if (limit(narrow, name, -Infinity) > limit(wide, name, -Infinity)) changes.push(name);
  }
  for (const name of UPPER) {
    if (limit(narrow, name, Infinity) < limit(wide, name, Infinity)) changes.push(name);
  }
  for (const name of OPAQUE) {
    if (narrow[name] !== undefined && !same(narrow[name], wide[name])) changes.push(name);
  }
  return changes;
}

/**
 * What clients may no longer send: the new schema must take all that the old one took, and mean the same.
 *
 * @param at where, for the messages
 */
export function requestChanges(old: Schema, now: Schema, resolve: Resolve, at: string): Changes {
  const [before, after] = [resolve(old), resolve(now)];
  const changes = narrower(before, after).map((what) => `${at}: request narrowed: ${what}`);
  if (!same(before.default, after.default)) changes.push(`${at}: default changed`);
  if (after.additionalProperties === false && before.additionalProperties !== false) {
    changes.push(`${at}: other members are no longer taken`);
  }
  for (const name of after.required ?? []) {
    if (!before.required?.includes(name)) changes.push(`${at}: request property ${name} is now required`);
  }
  for (const [name, member] of Object.entries(before.properties ?? {})) {
    const still = after.properties?.[name];
    if (still) changes.push(...requestChanges(member, still, resolve, `${at}.${name}`));
    else changes.push(`${at}: request property ${name} removed`);
  }
  if (before.items && after.items) {
    changes.push(...requestChanges(before.items, after.items, resolve, `${at}[]`));
  }
  return changes;
}

/**
 * What clients may now meet that they were not told of: the new schema must give nothing that the old one
 * did not. More members are no surprise; one more value of an enum is, since a client may handle each.
 *
 * @param at where, for the messages
 */
export function responseChanges(old: Schema, now: Schema, resolve: Resolve, at: string): Changes {
  const [before, after] = [resolve(old), resolve(now)];
  const changes = narrower(after, before).map((what) => `${at}: response widened: ${what}`);
  for (const name of before.required ?? []) {
    if (after.properties?.[name] && !after.required?.includes(name)) {
      changes.push(`${at}: response property ${name} is no longer required`);
    }
  }
  for (const [name, member] of Object.entries(before.properties ?? {})) {
    const still = after.properties?.[name];
    if (still) changes.push(...responseChanges(member, still, resolve, `${at}.${name}`));
    else changes.push(`${at}: response property ${name} removed`);
  }
  if (before.items) changes.push(...responseChanges(before.items, after.items ?? {}, resolve, `${at}[]`));
  return changes;
}
