import { readFile, writeFile } from "node:fs/promises";
import { Command } from "commander";
import { openApiText } from "./document.ts";
import { openApi30Text } from "./openapi-3-0.ts";

/** `npm run openapi`: writes what follows from lib/operations.ts. npm runs it in the folder of package.json. */

const { check } = new Command("npm run openapi --")
  .description("Writes openapi.json and openapi-3.0.json from lib/operations.ts.")
  .option("--check", "write nothing, and fail if a file is not current")
  .parse()
  .opts<{ check?: boolean }>();

const files = {
  "openapi.json": openApiText(),
  "openapi-3.0.json": openApi30Text(),
};

for (const [file, text] of Object.entries(files)) {
  if (!check) {
    await writeFile(file, text);
    console.log(`Wrote ${file}.`);
  } else if ((await readFile(file, "utf8").catch(() => undefined)) !== text) {
    console.error(`${file} is not current: run \`npm run openapi\`.`);
    process.exitCode = 1;
  }
}
