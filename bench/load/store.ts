import { readStack } from "../../infra/assembly/template.ts";
import { localStack } from "../../infra/stages.ts";
import { createTables, startStore, useStore } from "../../local/store.ts";

/** An embedded store in a process of its own, with the stack's tables. Arguments: its folder, the assembly. */
const [, , folder, assembly = ""] = process.argv;
const { endpoint } = await startStore(folder);
useStore(endpoint);
await createTables(endpoint, readStack(assembly, localStack).tables);
console.log(endpoint);
