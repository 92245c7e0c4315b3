import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { openApiText } from "../../openapi/document.ts";
import { configureProgram, runProgram } from "../cli/run-program.ts";
import { synthesize } from "../local/synthesize.ts";
import { synthesizeAccount } from "./account.ts";
import { exampleSettings } from "./example-settings.ts";
import { withLimits } from "./limits.ts";
import { FOLDER, reviewedFiles } from "./reviewed-templates.ts";

/** `npm run generate`. npm runs it in the folder of package.json. Read the difference before you commit it. */

/** Writes a file that is not up to date. Without a text, removes it. */
function write(file: string, text: string | undefined): void {
  if (fs.existsSync(file) && fs.readFileSync(file, "utf8") === text) return;
  if (text === undefined) fs.rmSync(file);
  else fs.writeFileSync(file, text);
  changes.push(`${text === undefined ? "Removed" : "Wrote"} ${file}`);
}
const changes: string[] = [];

async function writeTemplates(): Promise<void> {
  using folder = fs.mkdtempDisposableSync(join(tmpdir(), "animal-store-templates-"));
  const [assembly, account] = [join(folder.path, "stages"), join(folder.path, "account")];
  fs.mkdirSync(assembly);
  await synthesize(assembly).catch(({ message }: Error) => {
    console.error(message); // of many lines
    throw new Error("The templates are not written.");
  });
  synthesizeAccount(exampleSettings, account);
  const files = reviewedFiles(assembly, account);
  for (const file of new Set([...fs.readdirSync(FOLDER), ...Object.keys(files)]))
    write(relative(".", fileURLToPath(new URL(file, FOLDER))), files[file]);
}

const program = configureProgram(new Command("npm run generate"))
  .description("Writes openapi.json, the reviewed templates, and the limits in README.md.")
  .action(async () => {
    write("openapi.json", openApiText());
    await writeTemplates();
    write("README.md", withLimits(fs.readFileSync("README.md", "utf8")));
    console.log(changes.join("\n") || "Nothing changed.");
  });

await runProgram(program, "generate");
