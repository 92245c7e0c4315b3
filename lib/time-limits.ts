// How long each part waits, in milliseconds. A part gives up before the one that waits for it: an attempt before its call, a
// call before its function responds, and the function before Lambda ends it.

/** How often a call of DynamoDB is tried. DynamoDB usually responds within 10 ms. */
export const ATTEMPTS = 3;
export const ATTEMPT_MS = 1000;
/** At least the longest pause of the SDK between two attempts. After throttling it is longer, but DynamoDB throttles at once. */
const PAUSE_MS = 100;
const CALL_MS = ATTEMPTS * ATTEMPT_MS + (ATTEMPTS - 1) * PAUSE_MS;

/** The call of a warm-up ends after this time, in whichever attempt. DynamoDB usually responds to a first call within 100 ms. */
export const WARM_UP_MS = 0.3 * ATTEMPT_MS;

/** How long before Lambda's timeout a function gives up and responds. */
export const EARLY_RESPONSE_MS = 500;
/** What a function needs beside a call, such as a second call for an id that is taken. */
const OWN_MS = 2000;
/** Lambda's timeout of a function: whole seconds, in milliseconds. API Gateway gives up after 29 s. */
export const FUNCTION_TIMEOUT_MS = Math.ceil((CALL_MS + EARLY_RESPONSE_MS) / 1000) * 1000 + OWN_MS;
