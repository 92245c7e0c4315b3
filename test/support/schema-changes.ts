/** A JSON Schema whose references stay within its document. */
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

/** Returns the schema that a reference names, or the schema itself. */
export type Resolve = (schema: Schema) => Schema;

/** Differences between two schemas, with their places. */
type Changes = string[];

const LOWER = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
const UPPER = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];
/** Keywords whose values are not compared further: any difference counts. */
const OPAQUE = ["pattern", "format", "const", "anyOf", "oneOf", "allOf", "not"];

const typesOf = ({ type }: Schema) => (type === undefined ? undefined : [type].flat());
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The default, which openapi/schemas.ts writes into the description of a member. */
const defaultOf = ({ default: value, description }: Schema) =>
  value ?? /Default: `(.*)`/.exec(String(description))?.[1];

/** The rules by which `narrow` accepts less than `wide`, members aside. */
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
 * Finds requests that are no longer accepted, or mean something else.
 *
 * @param at the place, for the messages
 */
export function requestChanges(old: Schema, now: Schema, resolve: Resolve, at: string): Changes {
  const [before, after] = [resolve(old), resolve(now)];
  const changes = narrower(before, after).map((what) => `${at}: request narrowed: ${what}`);
  if (!same(defaultOf(before), defaultOf(after))) changes.push(`${at}: default changed`);
  if (after.additionalProperties === false && before.additionalProperties !== false) {
    changes.push(`${at}: other members are no longer accepted`);
  }
  for (const name of after.required ?? []) {
    if (!before.required?.includes(name)) changes.push(`${at}: request property ${name} is now required`);
  }
  for (const [name, member] of Object.entries(before.properties ?? {})) {
    const kept = after.properties?.[name];
    if (kept) changes.push(...requestChanges(member, kept, resolve, `${at}.${name}`));
    else changes.push(`${at}: request property ${name} removed`);
  }
  if (before.items && after.items) {
    changes.push(...requestChanges(before.items, after.items, resolve, `${at}[]`));
  }
  return changes;
}

/**
 * Finds responses that a client of the old schema does not expect. New members are harmless. A new value of an enum is
 * not, because clients can have a case for each value.
 *
 * @param at the place, for the messages
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
    const kept = after.properties?.[name];
    if (kept) changes.push(...responseChanges(member, kept, resolve, `${at}.${name}`));
    else changes.push(`${at}: response property ${name} removed`);
  }
  if (before.items) changes.push(...responseChanges(before.items, after.items ?? {}, resolve, `${at}[]`));
  return changes;
}
