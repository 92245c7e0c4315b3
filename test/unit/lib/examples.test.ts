import { expect, it } from "@jest/globals";
import * as z from "zod/mini";
import { exampleOf } from "../../../lib/examples.ts";
import { parseJson } from "../../../lib/http/json.ts";
import { type Operation, operations } from "../../../lib/operations.ts";
import { PetStatus } from "../../../lib/pet.ts";
import { jsonSchemaHints } from "../../../lib/validation.ts";

it.each<Operation>(operations)("the example of $id has all members, and is valid", ({ body, success }) => {
  for (const schema of [body, success.body].filter((one) => one !== undefined)) {
    const example = parseJson(JSON.stringify(exampleOf(schema)));
    expect(schema.safeParse(example)).toEqual({ success: true, data: example });
  }
});

it("takes the examples of a pet's members by their names, and those of other members from their hints", () => {
  const noted = z.object({ status: z.optional(PetStatus), note: z.optional(z.string()) });
  expect(() => exampleOf(noted)).toThrow("note has no example: register one in jsonSchemaHints");
  const hinted = z.string().register(jsonSchemaHints, { examples: ["Good with children"] });
  expect(exampleOf(z.object({ status: PetStatus, note: z.optional(hinted) }))).toEqual({
    status: "available",
    note: "Good with children",
  });
});
