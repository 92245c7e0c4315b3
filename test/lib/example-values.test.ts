import { expect, it } from "@jest/globals";
import * as z from "zod/mini";
import { exampleOf } from "../../lib/example-values.ts";
import { PetStatus } from "../../lib/pet.ts";

it("a member without an example is named", () => {
  const noted = z.object({ status: z.optional(PetStatus), note: z.optional(z.string()) });
  expect(() => exampleOf(noted)).toThrow("note has no example");
  const described = z.string().check(z.meta({ examples: ["Good with children"] }));
  expect(exampleOf(z.object({ status: PetStatus, note: z.optional(described) }))).toEqual({
    status: "available",
    note: "Good with children",
  });
});
