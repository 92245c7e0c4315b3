import { Command } from "commander";
import { buildDocs } from "./docs-page.ts";

/** `npm run docs`: writes the docs page as a static site. npm runs it in the folder of package.json. */

const folder = "build/docs";
new Command("npm run docs").description(`Writes the docs page as a static site to ${folder}.`).parse();

await buildDocs(folder);
console.log(`Wrote ${folder}. Open index.html in a browser.`);
