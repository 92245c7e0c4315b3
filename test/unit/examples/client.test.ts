import { expect, it } from "@jest/globals";
import type * as z from "zod/mini";
import * as client from "../../../examples/client.ts";
import type { ErrorCode } from "../../../lib/errors.ts";
import { INT64_MAX } from "../../../lib/int64.ts";
import type { listPets } from "../../../lib/operations.ts";
import type { NewPet, Pet, PetStatus } from "../../../lib/pet.ts";
import { openApiDocument } from "../../../openapi/document.ts";

// The client has types of its own, so that it is one file. They are those from which openapi.json is generated.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** The members that only one of the types has, or that have another type or are optional in only one. */
type Difference<A, B> = {
  [K in keyof A | keyof B]: Same<Pick<A, K & keyof A>, Pick<B, K & keyof B>> extends true ? never : K;
}[keyof A | keyof B];

/** The compiler reports an error that names the members in which the types differ. */
function expectSame<A, B>(_none: Record<Difference<A, B>, never>): void {}

expectSame<client.Pet, Pet>({});
expectSame<client.NewPet, z.input<typeof NewPet>>({});
expectSame<client.PetFilter, Partial<Omit<z.output<typeof listPets.query>, "cursor">>>({});
expectSame<Record<client.PetStatus, 1>, Record<PetStatus, 1>>({});
expectSame<Record<client.ErrorCode, 1>, Record<ErrorCode, 1>>({});

it("reads as bigint the members that openapi.json describes as int64, and no others", async () => {
  const { properties } = openApiDocument().components.schemas.Pet as {
    properties: Record<string, { format?: string }>;
  };
  const json = `{${Object.keys(properties).map((name) => `"${name}":${INT64_MAX}`)}}`;
  const store = client.petStore({
    baseUrl: "http://localhost/v1",
    apiKey: "key",
    fetch: async () => new Response(json, { status: 201 }),
  });

  const members = Object.entries(await store.add({ name: "Rex", categoryId: 1n }));
  const exact = members.filter(([, value]) => value === INT64_MAX).map(([name]) => name);
  const int64 = Object.keys(properties).filter((name) => properties[name]?.format === "int64");
  expect(exact).toEqual(int64);
});
