/**
 * Stands in for `@smithy/core/event-streams` in the bundles: the SDK loads it for operations that stream events, of
 * which DynamoDB has none.
 */
export {};
