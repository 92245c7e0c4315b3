import { stripTypeScriptTypes } from "node:module";

/** Jest's transform of TypeScript: Node's own type stripping, so that the tests run the code that Node runs. */
export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };

// Jest loads this file in each of its workers. A worker that has ended its work frees its memory first, which can take longer
// than the half second after which Jest kills it with a warning. It has nothing else to do.
if (process.send) process.once("beforeExit", () => process.kill(process.pid, "SIGKILL"));
