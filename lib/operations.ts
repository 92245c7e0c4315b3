import type { Operation } from "./operation.ts";
import { createPet } from "./operations/create-pet.ts";
import { getPet } from "./operations/get-pet.ts";
import { listPets } from "./operations/list-pets.ts";

/** Every operation of the API. A function imports only the file of its operation, so that its bundle has no other operation. */
export const operations = [listPets, createPet, getPet] as const satisfies readonly Operation[];
