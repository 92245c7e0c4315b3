/**
 * One line per request: who called what, with which result, and how long it took (milliseconds). No header, query
 * parameter or `$context.error.message`, because those can repeat what the client sent.
 */
export const ACCESS_LOG_FORMAT = JSON.stringify({
  requestId: "$context.requestId",
  requestTime: "$context.requestTime",
  keyId: "$context.authorizer.keyId",
  operation: "$context.httpMethod $context.resourcePath",
  status: "$context.status",
  latency: "$context.responseLatency",
  integrationLatency: "$context.integrationLatency",
  authorizerLatency: "$context.authorizer.latency",
  error: "$context.error.responseType",
});
