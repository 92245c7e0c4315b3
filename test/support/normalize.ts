import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Json } from "../../infra/assembly/intrinsics.ts";
import { accountStackName, deployedStages, stackName } from "../../infra/stages.ts";

/** The folder of the reviewed templates: what the stacks deploy, without what changes with every build. */
export const FOLDER = new URL("../integration/infra/templates/", import.meta.url);

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
    if (name === "Fn::Join") return argument[1].map(inline).map(textOf).join(argument[0]);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inline(member)]));
}

const textOf = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));

/** Removes the CDK's own bookkeeping, which deploys nothing. */
function withoutBookkeeping({ Resources, Outputs }: Json): Json {
  const resources = Object.entries<Json>(Resources)
    .filter(([, { Type }]) => Type !== "AWS::CDK::Metadata")
    .map(([id, { Metadata, ...resource }]) => [id, resource]);
  return { Resources: Object.fromEntries(resources), ...(Outputs && { Outputs }) };
}

/** Makes a template readable, and replaces what changes with every build: the hashes of code, versions and deployments. */
function readable(template: Json): Json {
  const plain = inline(withoutBookkeeping(template));
  for (const resource of Object.values<Json>(plain.Resources)) {
    const body = resource.Properties?.DashboardBody;
    if (body) resource.Properties.DashboardBody = JSON.parse(body);
  }
  const text = JSON.stringify(plain)
    .replaceAll(/\b[0-9a-f]{64}\b/g, "<asset>")
    .replaceAll(/(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, "$1<version>")
    .replaceAll(/(ApiRestApiDeployment[0-9A-F]{8})[0-9a-f]{32}/g, "$1<deployment>");
  return JSON.parse(text);
}

/**
 * Returns how a value differs from a base: the members that do, with their values, or undefined. Base and difference
 * together determine the value.
 */
function differenceOf(base: Json, value: Json): Json {
  if (value === undefined) return "<absent>";
  if (typeof base !== "object" || typeof value !== "object" || Array.isArray(base) !== Array.isArray(value)) {
    return base === value ? undefined : value;
  }
  const members = [...new Set([...Object.keys(base), ...Object.keys(value)])]
    .map((name) => [name, differenceOf(base[name], value[name])])
    .filter(([, difference]) => difference !== undefined);
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

const toYaml = (value: Json) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

/** The stack whose template is kept whole. Of the other stages' templates, only the difference from it is kept. */
const base = stackName("production");

/** The reviewed file of a stack. */
export const fileOf = (stack: string) =>
  new URL(
    stack === base || stack === accountStackName ? `${stack}.yaml` : `${stack}.difference.yaml`,
    FOLDER,
  );

/** Every reviewed file, by its stack. */
export const files = [accountStackName, ...deployedStages.map(({ name }) => stackName(name))].map(fileOf);

/**
 * Returns what the reviewed file of a stack contains.
 *
 * @param assembly folder with the synthesized stack, and with production if the stack is another stage
 */
export function reviewable(assembly: string, stack: string): string {
  const template = readable(readTemplate(assembly, stack));
  if (stack === base || stack === accountStackName) return toYaml(template);
  const named = (value: Json, name: string) => JSON.parse(JSON.stringify(value).replaceAll(name, "<stack>"));
  return toYaml(
    differenceOf(named(readable(readTemplate(assembly, base)), base), named(template, stack)) ?? {},
  );
}
