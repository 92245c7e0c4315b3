import * as z from "zod/mini";
import type { Operation } from "../operation.ts";
import { Pet, PetId } from "../pet.ts";

/** Source: contract 5. */
export const getPet = {
  id: "getPet",
  method: "GET",
  path: "/pets/{petId}",
  summary: "Get an animal",
  params: z.object({ petId: PetId }),
  success: { status: 200, description: "The animal", body: Pet },
  deprecation: {
    since: new Date("2026-11-20T00:00:00Z"),
    sunset: new Date("2030-12-05T00:00:00Z"),
    successor: "/pets",
  },
} as const satisfies Operation;
