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
 * Copies an assembly and adds a resource to a stack whose creation fails, after the tables have been created.
 *
 * @returns the copy
 */
export function addFailingResource(assembly: string, stack: string): string {
  const copy = `${assembly}-failing`;
  cpSync(assembly, copy, { recursive: true });
  const file = join(copy, `${stack}.template.json`);
  const template = JSON.parse(readFileSync(file, "utf8"));
  const tables = Object.keys(template.Resources).filter(
    (id) => template.Resources[id].Type === "AWS::DynamoDB::Table",
  );
  template.Resources.Failing = {
    Type: "AWS::CloudWatch::Alarm",
    DependsOn: tables,
    Properties: { ComparisonOperator: "GreaterThanThreshold", EvaluationPeriods: 1, Metrics: [] },
  };
  writeFileSync(file, JSON.stringify(template, null, 1));
  replaceHashes(copy, []);
  return copy;
}

/**
 * Copies an assembly and changes the code of every function in it, as an edit and a new synthesis do.
 *
 * @returns how many functions were changed
 */
export function changeFunctions(from: string, to: string, search: string, replacement: string): number {
  cpSync(from, to, { recursive: true });
  const renamed: [string, string][] = [];
  for (const folder of readdirSync(to).filter((name) => name.startsWith("asset."))) {
    const code = readFileSync(join(to, folder, "index.js"), "utf8");
    if (!code.includes(search)) continue;
    const [oldHash, newHash] = [folder.slice("asset.".length), hashOf(code)];
    writeFileSync(join(to, folder, "index.js"), code.replaceAll(search, replacement));
    renameSync(join(to, folder), join(to, `asset.${newHash}`));
    renamed.push([oldHash, newHash]);
  }
  replaceHashes(to, renamed);
  return renamed.length;
}

/**
 * Replaces the hashes of changed assets in an assembly, and of its templates, under which `cdk` publishes both.
 *
 * @param changed old and new hashes
 */
function replaceHashes(assembly: string, changed: [string, string][]): void {
  const renamed = [...changed];
  for (const file of readdirSync(assembly).filter((name) => name.endsWith(".assets.json"))) {
    const { files } = JSON.parse(readFileSync(join(assembly, file), "utf8"));
    for (const [hash, asset] of Object.entries<Json>(files)) {
      if (asset.source.path.endsWith(".template.json")) renamed.push([hash, hashOf(hash)]);
    }
  }
  for (const file of readdirSync(assembly).filter((name) => name.endsWith(".json"))) {
    const text = readFileSync(join(assembly, file), "utf8");
    writeFileSync(
      join(assembly, file),
      renamed.reduce((all, [oldHash, newHash]) => all.replaceAll(oldHash, newHash), text),
    );
  }
}

const hashOf = (text: string) => createHash("sha256").update(`changed ${text}`).digest("hex");
