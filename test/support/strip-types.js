import { stripTypeScriptTypes } from "node:module";

/** Jest's transform of TypeScript: Node's own type stripping, so that the tests run the code that Node runs. */
export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
