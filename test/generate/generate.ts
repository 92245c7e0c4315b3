import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { configureProgram, runProgram } from "../../cli/run-program.ts";
import { synthesize } from "../../infra/synthesize.ts";
import { openApiText } from "../../openapi/document.ts";
import { synthesizeAccount } from "../support/account.ts";
import { exampleSettings } from "../support/every-option.ts";
import { FOLDER, reviewedFiles } from "../support/reviewed-templates.ts";
import { documents, withFigures } from "./figures.ts";

/** `npm run generate`. npm runs it in the folder of package.json. Read the difference before you commit it. */

async function writeTemplates(): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "animal-store-templates-"));
  const [assembly, account] = [join(folder.path, "stages"), join(folder.path, "account")];
  mkdirSync(assembly);
  await synthesize(assembly).catch(({ message }: Error) => {
    console.error(message); // of many lines
    throw new Error("The templates are not written.");
  });
  synthesizeAccount(exampleSettings, account);
  for (const file of readdirSync(FOLDER)) rmSync(new URL(file, FOLDER));
  for (const [file, deployed] of Object.entries(reviewedFiles(assembly, account)))
    writeFileSync(new URL(file, FOLDER), deployed);
}

const program = configureProgram(new Command("npm run generate"))
  .description(`Writes openapi.json, the reviewed templates, and the figures of ${documents.join(", ")}.`)
  .action(async () => {
    writeFileSync("openapi.json", openApiText());
    await writeTemplates();
    for (const document of documents)
      writeFileSync(document, withFigures(document, readFileSync(document, "utf8")));
  });

process.exitCode = await runProgram(program, "generate");
