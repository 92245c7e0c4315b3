import * as z from "zod/mini";
import { IdempotencyKey } from "../idempotency-key.ts";
import type { Operation } from "../operation.ts";
import { NewPet, Pet } from "../pet.ts";

/** Source: contract 4. */
export const createPet = {
  id: "createPet",
  method: "POST",
  path: "/pets",
  summary: "Add an animal",
  headers: z.object({ "Idempotency-Key": z.optional(IdempotencyKey) }),
  body: NewPet,
  success: { status: 201, description: "The animal was added", body: Pet },
  errors: ["idempotency_mismatch"],
} as const satisfies Operation;
