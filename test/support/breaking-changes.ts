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

/** An OpenAPI 3.1 document, as far as this check reads it. */
export interface Document {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, unknown> };
}

/** Where a comparison is, and how it follows references in either document. */
interface Place {
  resolve: Resolve;
  at: string;
}

const names = (value: object = {}) => Object.keys(value);

function parameterChanges(old: Parameter[], now: Parameter[], { resolve, at }: Place): string[] {
  // Header names are case-insensitive.
  const key = (parameter: Parameter) =>
    `${parameter.in} ${parameter.in === "header" ? parameter.name.toLowerCase() : parameter.name}`;
  const before = new Map(old.map((parameter) => [key(parameter), parameter]));
  const after = new Map(now.map((parameter) => [key(parameter), parameter]));
  return [
    ...[...before].flatMap(([name, { schema }]) => {
      const kept = after.get(name);
      if (!kept) return [`${at}: parameter removed: ${name}`];
      return requestChanges(schema, kept.schema, resolve, `${at} ${name}`);
    }),
    ...[...after].flatMap(([name, { required }]) =>
      required && !before.get(name)?.required ? [`${at}: parameter is now required: ${name}`] : [],
    ),
  ];
}

function bodyChanges(old: OperationObject, now: OperationObject, { resolve, at }: Place): string[] {
  const [before, after] = [old.requestBody, now.requestBody];
  const required = after?.required && !before?.required ? [`${at}: a body is now required`] : [];
  return [
    ...required,
    ...names(before?.content).flatMap((type) => {
      const [was, is] = [before?.content[type], after?.content[type]];
      if (!was || !is) return [`${at}: body of ${type} is no longer accepted`];
      return requestChanges(was.schema, is.schema, resolve, `${at} body`);
    }),
  ];
}

function responseObjectChanges(old: Response, now: Response, { resolve, at }: Place): string[] {
  const headers = Object.entries(old.headers ?? {}).flatMap(([name, { required, schema }]) => {
    const kept = now.headers?.[name];
    if (!kept) return [`${at}: response header ${name} removed`];
    const optional = required && !kept.required ? [`${at}: response header ${name} is now optional`] : [];
    return [...optional, ...responseChanges(schema, kept.schema, resolve, `${at} ${name}`)];
  });
  const bodies = Object.entries(old.content ?? {}).flatMap(([type, { schema }]) => {
    const kept = now.content?.[type];
    if (!kept) return [`${at}: body of ${type} removed`];
    return responseChanges(schema, kept.schema, resolve, `${at} body`);
  });
  return [...headers, ...bodies];
}

function responsesChanges(old: OperationObject, now: OperationObject, { resolve, at }: Place): string[] {
  return [
    ...Object.entries(old.responses).flatMap(([status, response]) => {
      const kept = now.responses[status];
      return kept
        ? responseObjectChanges(response, kept, { resolve, at: `${at} ${status}` })
        : [`${at}: response ${status} removed`];
    }),
    // Clients treat an unknown 4xx or 5xx by its class (RFC 9110, 15), but can check for the exact success status.
    ...names(now.responses)
      .filter((status) => /^[23]/.test(status) && !old.responses[status])
      .map((status) => `${at}: response ${status} is new`),
  ];
}

function securityChanges(old: OperationObject, now: OperationObject, at: string): string[] {
  const alternatives = ({ security = [{}] }: OperationObject) =>
    security.map((alternative) => JSON.stringify(alternative));
  return alternatives(old).every((alternative) => alternatives(now).includes(alternative))
    ? []
    : [`${at}: security changed`];
}

/** Resolves references within the document that has them. */
function resolver(old: Document, now: Document): Resolve {
  const documents = new WeakMap<object, Document>();
  const remember = (value: unknown, document: Document): void => {
    if (typeof value !== "object" || value === null) return;
    documents.set(value, document);
    for (const member of Object.values(value)) remember(member, document);
  };
  remember(old, old);
  remember(now, now);
  return (schema) => {
    const { $ref, ...rest } = schema;
    const target =
      documents.get(schema)?.components.schemas[$ref?.replace("#/components/schemas/", "") ?? ""];
    return target ? { ...target, ...rest } : schema;
  };
}

/**
 * Compares a released document with a new one.
 *
 * oasdiff does more, but it is a Go binary outside npm, and `npm test` needs nothing but npm packages. This check covers
 * the keywords that this document uses.
 *
 * @returns every change that can break a client of the released document, with its place. Additions that clients can
 *   ignore are not among them
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
      const place = { resolve, at };
      return [
        ...(before.operationId === after.operationId ? [] : [`${at}: operationId changed`]),
        ...parameterChanges(before.parameters ?? [], after.parameters ?? [], place),
        ...bodyChanges(before, after, place),
        ...responsesChanges(before, after, place),
        ...securityChanges(before, after, at),
      ];
    });
  });
  return [...schemes, ...new Set(changes)];
}
