// The entry of every function. Lambda waits for the top-level await of a module before the first request, with a full CPU at
// any memory size, as many have measured (docs/benchmarks.md). The function is CommonJS, which has no top-level await.
const { createRequire } = process.getBuiltinModule("node:module");
const { handler, ready } = createRequire(import.meta.url)("./index.cjs");
await ready;

export { handler };
