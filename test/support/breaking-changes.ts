import { type Resolve, requestChanges, responseChanges, type Schema } from "./schema-changes.ts";

type Content = Record<string, { schema: Schema }>;
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}
interface Response {
  headers?: Record<string, { required?: boolean; schema: Schema }>;
  content?: Content;
}
interface OperationObject {
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Response>;
  security?: Record<string, string[]>[];
}

/** An OpenAPI 3.1 document, as far as this project's own uses it. */
export interface Document {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, unknown> };
}

/** How two things that belong together are compared; the references of each side are its own document's. */
interface Sides {
  resolve: Resolve;
  at: string;
}

const names = (value: object = {}) => Object.keys(value);

function parameterChanges(old: Parameter[], now: Parameter[], { resolve, at }: Sides): string[] {
  // Names of headers have no case.
  const key = (each: Parameter) => `${each.in} ${each.in === "header" ? each.name.toLowerCase() : each.name}`;
  const before = new Map(old.map((each) => [key(each), each]));
  const after = new Map(now.map((each) => [key(each), each]));
  return [
    ...[...before].flatMap(([name, each]) => {
      const still = after.get(name);
      if (!still) return [`${at}: parameter removed: ${name}`];
      return requestChanges(each.schema, still.schema, resolve, `${at} ${name}`);
    }),
    ...[...after].flatMap(([name, { required }]) =>
      required && !before.get(name)?.required ? [`${at}: parameter is now required: ${name}`] : [],
    ),
  ];
}

function bodyChanges(old: OperationObject, now: OperationObject, { resolve, at }: Sides): string[] {
  const [before, after] = [old.requestBody, now.requestBody];
  const required = after?.required && !before?.required ? [`${at}: a body is now required`] : [];
  return [
    ...required,
    ...names(before?.content).flatMap((type) => {
      const [was, is] = [before?.content[type], after?.content[type]];
      if (!was || !is) return [`${at}: body of ${type} is no longer taken`];
      return requestChanges(was.schema, is.schema, resolve, `${at} body`);
    }),
  ];
}

function answerChanges(old: Response, now: Response, { resolve, at }: Sides): string[] {
  const headers = Object.entries(old.headers ?? {}).flatMap(([name, { required, schema }]) => {
    const still = now.headers?.[name];
    if (!still) return [`${at}: response header ${name} removed`];
    const optional = required && !still.required ? [`${at}: response header ${name} is optional now`] : [];
    return [...optional, ...responseChanges(schema, still.schema, resolve, `${at} ${name}`)];
  });
  const bodies = Object.entries(old.content ?? {}).flatMap(([type, { schema }]) => {
    const still = now.content?.[type];
    if (!still) return [`${at}: body of ${type} removed`];
    return responseChanges(schema, still.schema, resolve, `${at} body`);
  });
  return [...headers, ...bodies];
}

function responsesChanges(old: OperationObject, now: OperationObject, { resolve, at }: Sides): string[] {
  return [
    ...Object.entries(old.responses).flatMap(([status, response]) => {
      const still = now.responses[status];
      return still
        ? answerChanges(response, still, { resolve, at: `${at} ${status}` })
        : [`${at}: response ${status} removed`];
    }),
    // A client knows any 4xx and 5xx by its class (RFC 9110, 15); success may be decided by its exact status.
    ...names(now.responses)
      .filter((status) => /^[23]/.test(status) && !old.responses[status])
      .map((status) => `${at}: response ${status} is new`),
  ];
}

function securityChanges(old: OperationObject, now: OperationObject, at: string): string[] {
  const alternatives = ({ security = [{}] }: OperationObject) => security.map((each) => JSON.stringify(each));
  return alternatives(old).every((each) => alternatives(now).includes(each))
    ? []
    : [`${at}: what authorizes a request changed`];
}

/** Gives each side's references what they name in its own document. */
function resolver(old: Document, now: Document): Resolve {
  const own = new WeakMap<object, Document>();
  const claim = (value: unknown, document: Document): void => {
    if (typeof value !== "object" || value === null) return;
    own.set(value, document);
    for (const member of Object.values(value)) claim(member, document);
  };
  claim(old, old);
  claim(now, now);
  return (schema) => {
    const { $ref, ...rest } = schema;
    const target = own.get(schema)?.components.schemas[$ref?.replace("#/components/schemas/", "") ?? ""];
    return target ? { ...target, ...rest } : schema;
  };
}

/**
 * Compares a released document with a new one.
 *
 * @returns every change that can break a client of the released one, in words and with its place; additions
 *   that a client need not know of are none
 */
export function breakingChanges(old: Document, now: Document): string[] {
  const resolve = resolver(old, now);
  const schemes = names(old.components.securitySchemes)
    .filter((name) => !now.components.securitySchemes[name])
    .map((name) => `security scheme ${name} removed`);
  const changes = Object.entries(old.paths).flatMap(([path, operations]) => {
    const item = now.paths[path];
    if (!item) return [`${path}: path removed`];
    return Object.entries(operations).flatMap(([method, before]) => {
      const at = `${method.toUpperCase()} ${path}`;
      const after = item[method];
      if (!after) return [`${at}: operation removed`];
      const sides = { resolve, at };
      return [
        ...(before.operationId === after.operationId ? [] : [`${at}: operationId changed`]),
        ...parameterChanges(before.parameters ?? [], after.parameters ?? [], sides),
        ...bodyChanges(before, after, sides),
        ...responsesChanges(before, after, sides),
        ...securityChanges(before, after, at),
      ];
    });
  });
  return [...schemes, ...new Set(changes)];
}
