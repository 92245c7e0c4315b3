import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
type Json = any;

/** The reviewed templates: what the stacks deploy, without what changes with every build. */
export const TEMPLATES_FOLDER = new URL("../service/infra/templates/", import.meta.url);

/** @returns the template of a stack in a synthesized assembly */
export const readTemplate = (assembly: string, stack: string): Json =>
  JSON.parse(readFileSync(join(assembly, `${stack}.template.json`), "utf8"));

/** Writes references as `${id}` or `${id.Attribute}`, and joined text as one string. */
function inline(value: Json): Json {
  if (Array.isArray(value)) return value.map(inline);
  if (typeof value !== "object" || value === null) return value;
  const [[name, argument] = [], second] = Object.entries<Json>(value);
  if (!second) {
    if (name === "Ref") return `\${${argument}}`;
    if (name === "Fn::GetAtt") return `\${${argument.join(".")}}`;
    if (name === "Fn::Join") return inline(argument[1]).join(argument[0]);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inline(member)]));
}

/** Removes the CDK's own bookkeeping, which deploys nothing. */
function withoutBookkeeping({ Resources, Outputs }: Json): Json {
  const resources = Object.entries<Json>(Resources)
    .filter(([, { Type }]) => Type !== "AWS::CDK::Metadata")
    .map(([id, { Metadata, ...resource }]) => [id, resource]);
  return { Resources: Object.fromEntries(resources), ...(Outputs && { Outputs }) };
}

/**
 * Makes a template comparable and readable.
 *
 * @param template as synthesized
 * @returns YAML in which the hashes of code, versions and deployments are replaced
 */
export function normalize(template: Json): string {
  const plain = inline(withoutBookkeeping(template));
  for (const resource of Object.values<Json>(plain.Resources)) {
    const body = resource.Properties?.DashboardBody;
    if (body) resource.Properties.DashboardBody = JSON.parse(body);
  }
  return stringify(plain, { lineWidth: 0, aliasDuplicateObjects: false })
    .replaceAll(/\b[0-9a-f]{64}\b/g, "<asset>")
    .replaceAll(/(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, "$1<version>")
    .replaceAll(/(ApiRestApiDeployment[0-9A-F]{8})[0-9a-f]{32}/g, "$1<deployment>");
}
