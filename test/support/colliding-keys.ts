/**
 * Two Idempotency-Keys of the API key `key_test` whose creations have the same first id, 7890487259239735. A search through
 * about 2^27 keys found them.
 */
export const COLLIDING_KEYS = ["1ce42e92efcbb9", "03dc365ae9f833"] as const;
