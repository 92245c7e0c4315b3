import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../support/json.ts";

/** The types that MiniStack does not support; it refuses a whole template that has any of them. */
const UNSUPPORTED = [
  "AWS::CodeDeploy::Application",
  "AWS::CodeDeploy::DeploymentGroup",
  "AWS::WAFv2::WebACLAssociation",
];

/** Changes the resources of every stack of an assembly. */
function editTemplates(
  assembly: string,
  edit: (resources: Record<string, Json>, stack: string, outputs: Record<string, Json>) => void,
): void {
  for (const name of readdirSync(assembly).filter((name) => name.endsWith(".template.json"))) {
    const file = join(assembly, name);
    const template = JSON.parse(readFileSync(file, "utf8"));
    edit(template.Resources, name.replace(".template.json", ""), template.Outputs ?? {});
    writeFileSync(file, JSON.stringify(template, null, 1));
  }
}

/** Removes from an assembly's templates what MiniStack does not support. @returns it, as `stack: type id` */
export function removeUnsupported(assembly: string): string[] {
  const removed: string[] = [];
  editTemplates(assembly, (resources, stack, outputs) => {
    // In a condition, MiniStack does not replace a pseudo parameter by its value.
    for (const one of [...Object.values(resources), ...Object.values(outputs)]) delete one.Condition;
    for (const [id, { Type, Properties, UpdatePolicy }] of Object.entries(resources)) {
      const isMetricMath = Type === "AWS::CloudWatch::Alarm" && Properties.Metrics;
      if (UNSUPPORTED.includes(Type) || isMetricMath) {
        removed.push(`${stack}: ${Type} ${id}`);
        delete resources[id];
      }
      delete UpdatePolicy?.CodeDeployLambdaAliasUpdate;
    }
  });
  return removed;
}

/** Copies an assembly, and adds a resource to each stack whose creation fails, after the tables have been created. */
export function addFailingResource(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  editTemplates(to, (resources) => {
    resources.Failing = {
      Type: "AWS::CloudWatch::Alarm",
      DependsOn: Object.keys(resources).filter((id) => resources[id].Type === "AWS::DynamoDB::Table"),
      Properties: { ComparisonOperator: "GreaterThanThreshold", EvaluationPeriods: 1, Metrics: [] },
    };
  });
}

/**
 * Copies an assembly and changes the code of every function in it, as an edit and a new synthesis do.
 *
 * @returns how many functions were changed
 */
export function changeFunctions(from: string, to: string, search: string, replacement: string): number {
  cpSync(from, to, { recursive: true });
  const names = readdirSync(to);
  const manifests = names.filter((name) => name.endsWith(".json")).map((name) => join(to, name));
  let changed = 0;
  for (const asset of names.filter((name) => name.startsWith("asset."))) {
    const file = join(to, asset, "index.cjs");
    const code = readFileSync(file, "utf8");
    if (!code.includes(search)) continue;
    writeFileSync(file, code.replaceAll(search, replacement));
    const hash = createHash("sha256").update(code).update(replacement).digest("hex");
    renameSync(join(to, asset), join(to, `asset.${hash}`));
    for (const manifest of manifests) {
      const text = readFileSync(manifest, "utf8");
      writeFileSync(manifest, text.replaceAll(asset.slice("asset.".length), hash));
    }
    changed++;
  }
  return changed;
}
