import { Command } from "commander";
import { buildDocs } from "./docs-page.ts";

/** `npm run docs`: writes the docs page as a static site. npm runs it in the folder of package.json. */

const folder = "build/docs";
new Command("npm run docs")
  .description(`Writes the docs page as a static site to ${folder}.`)
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
  .parse();

await buildDocs(folder);
console.log(`Wrote ${folder}. Open index.html in a browser.`);
