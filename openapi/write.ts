import { writeFile } from "node:fs/promises";
import { openApiText } from "./document.ts";

/** `npm run openapi`: writes the API's document to the root of the project. */
await writeFile(new URL("../openapi.json", import.meta.url), openApiText());
