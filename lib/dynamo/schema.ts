// What is stored in DynamoDB. Stored items keep these names, so never change a name or its meaning.

/**
 * The partition key of the pets: the id, a number. The other attributes are the fields of a pet (lib/pet.ts) and,
 * beside ORDER_ATTRIBUTE,
 * - `creationId`: what the attempts of its creation share
 * - `fingerprint`: of what was sent with an Idempotency-Key
 * - `deletionId`: of its deletion, after which only the id and these three are left (docs/decisions/one-write.md)
 */
export const PETS_KEY = "id";

/** The place of a pet in the list, a number: the time and the id (lib/creation.ts). A retired id has none. */
export const ORDER_ATTRIBUTE = "creationOrder";

/** The index that lists the pets of a status: its keys are `status` and ORDER_ATTRIBUTE. */
export const STATUS_INDEX = "byStatus";

/** The partition key of the API keys. The attributes are the members of ApiKeyRecord (lib/api-key.ts) and the following. */
export const KEYS_KEY = "keyId";

/** When DynamoDB deletes a key, in seconds since 1970. This only cleans up: the authorizer checks the end itself. */
export const KEY_TTL_ATTRIBUTE = "deleteAt";
