import { expect, it } from "@jest/globals";
import * as z from "zod/mini";
import { exampleOf, exampleRequest } from "../../../lib/examples.ts";
import { parseJson } from "../../../lib/http/json.ts";
import type { Operation } from "../../../lib/operation.ts";
import { operations } from "../../../lib/operations.ts";
import { PetStatus } from "../../../lib/pet.ts";

const example = (schema: z.ZodMiniType) => parseJson(JSON.stringify(exampleOf(schema)));

it.each<Operation>(operations)(
  "the example of $id has all members and parameters, and is valid",
  (operation) => {
    const { success, ...parts } = operation;
    if (success.body) expect(success.body.safeParse(example(success.body))).toMatchObject({ success: true });
    const { body, ...texts } = exampleRequest(operation);
    const sent = { ...texts, body: parseJson(body ?? "null") };
    for (const part of ["params", "query", "headers", "body"] as const) {
      const names = Object.keys(parts[part]?.shape ?? {});
      expect(Object.keys(sent[part] ?? {})).toEqual(names);
      expect(parts[part]?.safeParse(sent[part]).error).toBeUndefined();
    }
  },
);

it("a member without an example is named", () => {
  const noted = z.object({ status: z.optional(PetStatus), note: z.optional(z.string()) });
  expect(() => exampleOf(noted)).toThrow("note has no example");
  const described = z.string().check(z.meta({ examples: ["Good with children"] }));
  expect(exampleOf(z.object({ status: PetStatus, note: z.optional(described) }))).toEqual({
    status: "available",
    note: "Good with children",
  });
});
