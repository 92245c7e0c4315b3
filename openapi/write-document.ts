import { writeFile } from "node:fs/promises";
import { openApiText } from "./document.ts";

/** Part of `npm run generate`: writes openapi.json from lib/operations.ts. npm runs it in the folder of package.json. */

await writeFile("openapi.json", openApiText());
console.log("Wrote openapi.json.");
