import { stripTypeScriptTypes } from "node:module";
import { stopCoverage } from "node:v8";

// A worker writes its coverage after each file of tests (write-coverage.ts). At its end, Node would write it all again, for
// longer than Jest waits before it kills the worker. Jest loads this file outside of the tests, so it sees the real process.
if (process.send) process.once("beforeExit", stopCoverage);

/** Jest's transform of TypeScript: Node's own type stripping, so that the tests run the code that Node runs. */
export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
