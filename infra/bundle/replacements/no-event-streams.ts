/**
 * Replaces `@smithy/core/event-streams` in the bundles. The SDK loads it for operations that stream events, and
 * DynamoDB has none.
 */
export {};
