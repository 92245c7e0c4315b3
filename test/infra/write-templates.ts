import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Template } from "aws-cdk-lib/assertions";
import { synthesize } from "../../infra/assembly/synthesize.ts";
import { accountStack, stackName, stages } from "../../infra/stages.ts";
import { accountStackFor, exampleRepository } from "./account.ts";
import { normalize, readTemplate, TEMPLATES_FOLDER } from "./normalize.ts";

/** `npm run templates`: writes the reviewed templates again. Read the difference before you commit it. */
const assembly = mkdtempSync(join(tmpdir(), "animal-store-templates-"));
try {
  await synthesize(assembly, []);
  const templates = new Map([
    [accountStack, Template.fromStack(accountStackFor(exampleRepository)).toJSON()],
    ...stages.map(({ name }) => [stackName(name), readTemplate(assembly, stackName(name))] as const),
  ]);
  for (const [stack, template] of templates) {
    writeFileSync(new URL(`${stack}.yaml`, TEMPLATES_FOLDER), normalize(template));
  }
} finally {
  rmSync(assembly, { recursive: true });
}
