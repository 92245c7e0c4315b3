import { expect, it } from "@jest/globals";
import * as z from "zod/mini";
import { exampleOf } from "../../lib/examples.ts";
import { parseJson } from "../../lib/http/json.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { PetStatus } from "../../lib/pet.ts";

it.each<Operation>(operations)("the example of a response of $id is valid", ({ success }) => {
  const example = success.body && parseJson(JSON.stringify(exampleOf(success.body)));
  expect(success.body?.safeParse(example).error).toBeUndefined();
});

it("a member without an example is named", () => {
  const noted = z.object({ status: z.optional(PetStatus), note: z.optional(z.string()) });
  expect(() => exampleOf(noted)).toThrow("note has no example");
  const described = z.string().check(z.meta({ examples: ["Good with children"] }));
  expect(exampleOf(z.object({ status: PetStatus, note: z.optional(described) }))).toEqual({
    status: "available",
    note: "Good with children",
  });
});
