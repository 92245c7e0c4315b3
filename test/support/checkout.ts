import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The source of an app in place of the CDK app, which takes seconds: it writes the assembly of the tests, with another text. */
export const quickApp = (old = "x", next = "x") => `
  import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
  const { CDK_OUTDIR: folder, TEST_ASSEMBLY } = process.env;
  cpSync(TEST_ASSEMBLY, folder, { recursive: true });
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".template.json"))) {
    const text = readFileSync(folder + "/" + file, "utf8").replaceAll(${JSON.stringify(old)}, ${JSON.stringify(next)});
    writeFileSync(folder + "/" + file, text);
  }`;

/** Copies the sources to a folder whose name a shell would interpret, with quickApp. @returns the folder, and `npm start` of it */
export function copyCheckout() {
  const folder = fs.mkdtempSync(join(tmpdir(), "animal store's copy-"));
  const copied = "functions infra lib openapi tools cdk.json package.json package-lock.json tsconfig.json";
  for (const name of copied.split(" ")) fs.cpSync(join(root, name), join(folder, name), { recursive: true });
  fs.symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  fs.writeFileSync(join(folder, "infra/app.ts"), quickApp());
  return { folder, entry: join(folder, "tools/local/start.ts") };
}
