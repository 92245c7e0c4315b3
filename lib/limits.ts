/** Source: contract 3.2. */
export const PAGE_SIZE = { default: 20, minimum: 1, maximum: 100 } as const;

/** The longest name of a pet, in Unicode code points. Source: contract 2.5. */
export const NAME_LIMIT = 256;

/** The largest request body, in bytes. The store relies on it for the size of a page. Source: contract 4.6. */
export const BODY_LIMIT = 8 * 1024;

/** How deep the JSON of a body can be nested, in levels; the body itself is the first. Source: contract 4.2. */
export const DEPTH_LIMIT = 32;

/** How long the service remembers an Idempotency-Key at least, in hours. Source: contract 4.8. */
export const IDEMPOTENCY_HOURS = 24;
