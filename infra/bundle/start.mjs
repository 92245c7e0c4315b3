// The entry of every function. Lambda waits for a module's top-level await before the first request, with a full CPU
// whatever the memory size: the code itself is CommonJS, which cannot wait.
const { createRequire } = process.getBuiltinModule("node:module");
const { handler, ready } = createRequire(import.meta.url)("./index.js");
await ready;

export { handler };
