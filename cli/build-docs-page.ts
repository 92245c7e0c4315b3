import { Command } from "commander";
import { buildDocs } from "../openapi/docs-page.ts";
import { configureProgram, runProgram } from "./run-program.ts";

/** `npm run docs`: writes the docs page as a static site. npm runs it in the folder of package.json. */

const folder = "build/docs";
const program = configureProgram(new Command("npm run docs"), process)
  .description(`Writes the docs page as a static site to ${folder}.`)
  .action(async () => {
    await buildDocs(folder);
    console.log(`Wrote ${folder}, a site for any web server.`);
  });

process.exitCode = await runProgram(program, "docs", process);
