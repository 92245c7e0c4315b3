import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synthesize } from "../../../infra/assembly/synthesize.ts";
import { accountStackName, deployedStages, stackName } from "../../../infra/stages.ts";
import { exampleSettings, synthesizeAccount } from "../../support/account.ts";
import { fileOf, reviewable } from "../../support/normalize.ts";

/** Part of `npm run generate`: writes the reviewed templates again. Read the difference before you commit it. */

const folder = mkdtempSync(join(tmpdir(), "animal-store-templates-"));
try {
  const assembly = join(folder, "stages");
  mkdirSync(assembly);
  await synthesize(assembly, []);
  for (const stack of deployedStages.map(({ name }) => stackName(name))) write(stack, assembly);

  const account = join(folder, "account");
  synthesizeAccount(exampleSettings, account);
  write(accountStackName, account);
} finally {
  rmSync(folder, { recursive: true });
}

function write(stack: string, assembly: string): void {
  writeFileSync(fileOf(stack), reviewable(assembly, stack));
}
