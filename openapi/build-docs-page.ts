import { fileURLToPath } from "node:url";
import { buildDocs } from "./docs-page.ts";

/** `npm run docs:build`: writes the page about the API as a static site. */
await buildDocs(fileURLToPath(new URL("../build/docs", import.meta.url)));
console.log("The site is in build/docs.");
