import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synthesize } from "../../infra/synthesize.ts";
import { synthesizeAccount } from "../support/account.ts";
import { exampleSettings } from "../support/every-option.ts";
import { FOLDER, reviewedFiles } from "../support/normalize.ts";

/** Part of `npm run generate`: writes the reviewed templates again. Read the difference before you commit it. */

const folder = mkdtempSync(join(tmpdir(), "animal-store-templates-"));
try {
  const [assembly, account] = [join(folder, "stages"), join(folder, "account")];
  mkdirSync(assembly);
  await synthesize(assembly);
  synthesizeAccount(exampleSettings, account);
  for (const file of readdirSync(FOLDER)) rmSync(new URL(file, FOLDER));
  for (const [file, deployed] of Object.entries(reviewedFiles(assembly, account)))
    writeFileSync(new URL(file, FOLDER), deployed);
} finally {
  rmSync(folder, { recursive: true });
}
