import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { buildDocs } from "./docs-page.ts";

/** `npm run docs:build`: writes the docs page as a static site. */

new Command("npm run docs:build").description("Writes the docs page as a static site to build/docs.").parse();

const folder = fileURLToPath(new URL("../build/docs", import.meta.url));
await buildDocs(folder);
console.log(`Wrote ${relative(".", folder)}. Open index.html in a browser.`);
