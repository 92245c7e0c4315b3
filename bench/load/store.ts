import { readStack } from "../../infra/assembly/template.ts";
import { localStack } from "../../infra/stages.ts";
import { setAwsEnvironment } from "../../local/aws-environment.ts";
import { startStore } from "../../local/store.ts";
import { createTables } from "../../local/tables.ts";

/** An embedded store with the stack's tables. Arguments: the folder of its data, the folder of the assembly. */
const [, , folder, assembly = ""] = process.argv;
const { endpoint } = await startStore(folder);
setAwsEnvironment(endpoint);
await createTables(endpoint, readStack(assembly, localStack).tables);
console.log(endpoint);
