import { writeFile } from "node:fs/promises";
import { openApiText } from "./document.ts";

/** Part of the npm script `version`: writes openapi.json with the new version. npm runs it in the folder of package.json. */

await writeFile("openapi.json", openApiText());
console.log("Wrote openapi.json.");
