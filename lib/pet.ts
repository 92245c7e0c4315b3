import * as z from "zod/mini";
import { Int64, parseInt64 } from "./int64.ts";
import { NAME_LIMIT, PAGE_SIZE } from "./limits.ts";
import { fromText, must } from "./validation.ts";

const statuses = ["available", "pending", "sold"] as const;

/** A pet's availability. Source: contract 2.1. */
export const PetStatus = z
  .enum(statuses, must(`be one of ${statuses.join(", ")}`))
  .register(z.globalRegistry, { id: "PetStatus", description: "Availability of an animal" });
export type PetStatus = z.output<typeof PetStatus>;

// A lone surrogate could not be stored as UTF-8.
const isName = (name: string) => name !== "" && [...name].length <= NAME_LIMIT && name.isWellFormed();

const nameRule = must(`be a string of 1 to ${NAME_LIMIT} characters of well-formed Unicode`);

/**
 * What clients send of a pet. Validation, what is stored and returned, what a retry must repeat, and the documentation
 * follow from it. A field that is added later is optional and has no default: stored pets do not have it, and a request
 * without it still has the fingerprint of its first attempt. Source: contract 2.2.
 */
const fields = {
  name: z
    .string(nameRule)
    .check(
      z.refine(isName, nameRule),
      z.meta({ minLength: 1, maxLength: NAME_LIMIT, description: "Name of the animal", examples: ["Rex"] }),
    ),
  categoryId: Int64.check(
    z.describe("Id of the category that the animal belongs to: any 64-bit integer, returned digit for digit"),
  ),
  status: PetStatus.check(z.describe("Availability of the animal")),
};

/** The body that adds a pet. Unknown fields are ignored. Source: contract 2.2 and 4.3. */
export const NewPet = z
  .object({ ...fields, status: z._default(fields.status, "available") }, must("be a JSON object"))
  .register(z.globalRegistry, { id: "NewPet", description: "An animal to add. Other fields are ignored" });
export type NewPet = z.output<typeof NewPet>;

/** A pet as clients see it. Source: contract 2.3. */
export const Pet = z
  .object({
    id: Int64.check(
      z.meta({
        description: "Id of the animal, assigned by the service: at most 2^53 - 1",
        examples: [114677519594330],
      }),
    ),
    ...fields,
  })
  .register(z.globalRegistry, { id: "Pet", description: "An animal" });
export type Pet = z.output<typeof Pet>;

/** The id of a pet in a path. */
export const PetId = fromText(parseInt64, String, must("be an int64"), {
  type: "integer",
  format: "int64",
  description: "Id of the animal",
  examples: [114677519594330],
});

/** Source: contract 2.4. */
export const Pets = z.array(Pet).register(z.globalRegistry, {
  id: "Pets",
  description: "Animals in order of their creation",
  maxItems: PAGE_SIZE.maximum,
});
