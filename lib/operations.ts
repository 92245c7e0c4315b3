import * as z from "zod/mini";
import type { Scope } from "./api-key.ts";
import { CURSOR_LENGTH, decodeCursor } from "./cursor.ts";
import type { ErrorCode } from "./errors.ts";
import { idempotencyKeyPattern, parseIdempotencyKey } from "./idempotency-key.ts";
import { parseInt64 } from "./int64.ts";
import { IDEMPOTENCY_SECONDS, PAGE_SIZE } from "./limits.ts";
import { NewPet, Pet, PetStatus, Pets } from "./pet.ts";
import { fromText, type JsonSchemaHint, jsonSchemaHints, must } from "./validation.ts";

/** One operation of the API, as data: routes, validation, documentation and tests all read it. */
export interface Operation {
  id: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** relative to the base URL, parameters in braces */
  path: string;
  summary: string;
  /** the scope that a key needs */
  scope: Scope;
  /** path parameters, from their decoded text; an invalid value means that no such resource exists */
  params?: z.ZodMiniObject;
  /** query parameters, from their decoded text */
  query?: z.ZodMiniObject;
  /** request headers, by the name that messages and documentation use */
  headers?: z.ZodMiniObject;
  /** the JSON body, integers read as bigint */
  body?: z.ZodMiniObject;
  success: {
    description: string;
    /** what its optional headers mean */
    headers?: Record<string, string>;
  } & ({ status: 200 | 201; body: z.ZodMiniType } | { status: 204; body?: never });
  /** the errors it returns in addition to those of every operation */
  errors: readonly ErrorCode[];
  deprecation?: {
    /** when it became deprecated (RFC 9745) */
    since: Date;
    /** when it stops working (RFC 8594) */
    sunset: Date;
    /** path of the operation that replaces it */
    successor: string;
  };
}

/** The version segment that ends every base URL. Source: contract 1.1. */
export const API_VERSION = "v1";

function parseLimit(text: string): number | undefined {
  const value = /^[1-9]\d*$/.test(text) ? Number(text) : 0;
  return value >= PAGE_SIZE.minimum && value <= PAGE_SIZE.maximum ? value : undefined;
}

/**
 * Makes the description of an operation. The comment `@__PURE__` before each call lets esbuild leave the description out of
 * the bundles of the other functions, which tests check.
 */
const operation = <const O extends Operation>(describe: () => O): O => describe();

/** Source: contract 3. */
export const listPets = /* @__PURE__ */ operation(() => {
  const limitRule = must(`be an integer from ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}`);
  const limitHint: JsonSchemaHint = {
    type: "integer",
    format: "int32",
    minimum: PAGE_SIZE.minimum,
    maximum: PAGE_SIZE.maximum,
    description: "Maximum number of animals to return",
  };
  const cursorRule = must("be a cursor taken from a Link header of this API");
  const cursorHint: JsonSchemaHint = {
    type: "string",
    minLength: CURSOR_LENGTH,
    maxLength: CURSOR_LENGTH,
    description:
      "Start of the page: an opaque value from the Link header of another page. It can skip animals that were added at about the same time as those of the other page",
  };
  return {
    id: "listPets",
    method: "GET",
    path: "/pets",
    summary: "List all animals",
    scope: "pets:read",
    query: z.object({
      limit: z._default(fromText(parseLimit, limitRule, limitHint), PAGE_SIZE.default),
      status: z
        .optional(PetStatus)
        .register(jsonSchemaHints, { description: "Only animals with this status" }),
      cursor: z.optional(fromText(decodeCursor, cursorRule, cursorHint)),
    }),
    success: {
      status: 200,
      description: "A page of animals in ascending order of id",
      body: Pets,
      headers: { Link: 'URL of the next page with rel="next" (RFC 8288). The last page has none' },
    },
    errors: ["invalid_request"],
  };
});

/** Source: contract 4. */
export const createPet = /* @__PURE__ */ operation(() => {
  const idempotencyKeyRule = must("be 1 to 255 printable ASCII characters");
  const idempotencyKeyHint: JsonSchemaHint = {
    type: "string",
    minLength: 1,
    maxLength: 512, // a structured string of 255 characters, each with a backslash, and the quotes
    pattern: idempotencyKeyPattern.source,
    description: `Makes retries safe: for ${IDEMPOTENCY_SECONDS / 3600} hours, a request with the same key returns the animal that the first one added. Send a new UUID for each animal`,
    examples: ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
  };
  return {
    id: "createPet",
    method: "POST",
    path: "/pets",
    summary: "Add an animal",
    scope: "pets:write",
    headers: z.object({
      "Idempotency-Key": z.optional(fromText(parseIdempotencyKey, idempotencyKeyRule, idempotencyKeyHint)),
    }),
    body: NewPet,
    success: { status: 201, description: "The animal was added", body: Pet },
    errors: ["invalid_request", "payload_too_large", "unsupported_media_type", "idempotency_mismatch"],
  };
});

const petIdHint: JsonSchemaHint = { type: "integer", format: "int64", description: "Id of the animal" };

/** Source: contract 5. */
export const getPet = /* @__PURE__ */ operation(() => ({
  id: "getPet",
  method: "GET",
  path: "/pets/{petId}",
  summary: "Get an animal",
  scope: "pets:read",
  params: z.object({ petId: fromText(parseInt64, must("be an int64"), petIdHint) }),
  success: { status: 200, description: "The animal", body: Pet },
  errors: ["not_found", "gone"],
  deprecation: {
    since: new Date("2026-11-20T00:00:00Z"),
    sunset: new Date("2030-12-05T00:00:00Z"),
    successor: "/pets",
  },
}));

export const operations = [listPets, createPet, getPet] as const satisfies readonly Operation[];
