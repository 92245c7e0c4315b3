import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The types that the emulator does not support; it refuses a whole template that has any of them. */
const UNSUPPORTED = [
  "AWS::CodeDeploy::Application",
  "AWS::CodeDeploy::DeploymentGroup",
  "AWS::WAFv2::WebACLAssociation",
];

// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
type Json = any;

/**
 * Removes from an assembly's templates what the emulator does not support.
 *
 * @returns the removed resources, as `stack: type id`
 */
export function removeUnsupported(assembly: string): string[] {
  const removed: string[] = [];
  for (const file of readdirSync(assembly).filter((name) => name.endsWith(".template.json"))) {
    const template = JSON.parse(readFileSync(join(assembly, file), "utf8"));
    for (const [id, resource] of Object.entries<Json>(template.Resources)) {
      const isMetricMath = resource.Type === "AWS::CloudWatch::Alarm" && resource.Properties.Metrics;
      if (UNSUPPORTED.includes(resource.Type) || isMetricMath) {
        removed.push(`${file.replace(".template.json", "")}: ${resource.Type} ${id}`);
        delete template.Resources[id];
      }
      delete resource.UpdatePolicy?.CodeDeployLambdaAliasUpdate;
    }
    writeFileSync(join(assembly, file), JSON.stringify(template, null, 1));
  }
  return removed;
}

/**
 * Adds a resource to a stack whose creation fails, after the tables have been created.
 *
 * @returns removes it again
 */
export function addFailingResource(assembly: string, stack: string): () => void {
  const file = join(assembly, `${stack}.template.json`);
  const text = readFileSync(file, "utf8");
  const template = JSON.parse(text);
  template.Resources.Failing = {
    Type: "AWS::CloudWatch::Alarm",
    DependsOn: Object.keys(template.Resources).filter(
      (id) => template.Resources[id].Type === "AWS::DynamoDB::Table",
    ),
    Properties: { ComparisonOperator: "GreaterThanThreshold", EvaluationPeriods: 1, Metrics: [] },
  };
  writeFileSync(file, JSON.stringify(template, null, 1));
  return () => writeFileSync(file, text);
}

/**
 * Copies an assembly and changes the code of every function in it, as an edit and a new synthesis do.
 *
 * @returns how many functions were changed
 */
export function changeFunctions(from: string, to: string, search: string, replacement: string): number {
  cpSync(from, to, { recursive: true });
  const codeOf = (folder: string) => join(to, folder, "index.js");
  const changed = readdirSync(to).filter(
    (name) => name.startsWith("asset.") && readFileSync(codeOf(name), "utf8").includes(search),
  );
  for (const folder of changed) {
    const code = readFileSync(codeOf(folder), "utf8").replaceAll(search, replacement);
    const hash = createHash("sha256").update(code).digest("hex");
    writeFileSync(codeOf(folder), code);
    renameSync(join(to, folder), join(to, `asset.${hash}`));
    for (const name of readdirSync(to).filter((name) => name.endsWith(".json"))) {
      const text = readFileSync(join(to, name), "utf8");
      writeFileSync(join(to, name), text.replaceAll(folder.slice("asset.".length), hash));
    }
  }
  return changed.length;
}
