import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { accountStackName, stackName } from "../../infra/names.ts";
import { deployedStages, production } from "../../infra/stages.ts";

// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
type Json = any;

/** The folder of the reviewed templates: what the stacks deploy, without what changes with every build. */
export const FOLDER = new URL("../../test/infra/templates/", import.meta.url);

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

/**
 * Makes a template readable. Leaves out what deploys nothing, the CDK's own bookkeeping, and replaces what changes with
 * every build: the hashes of code, versions and deployments.
 */
function readable(template: Json): Json {
  const text = JSON.stringify(inline(template))
    .replaceAll(/\b[0-9a-f]{64}\b/g, "<asset>")
    .replaceAll(/(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, "$1<version>")
    .replaceAll(/(ApiRestApiDeployment[0-9A-F]{8})[0-9a-f]{32}/g, "$1<deployment>");
  const { Conditions, Resources, Outputs } = JSON.parse(text);
  for (const [id, resource] of Object.entries<Json>(Resources)) {
    if (resource.Type === "AWS::CDK::Metadata") delete Resources[id];
    delete resource.Metadata;
    const body = resource.Properties?.DashboardBody;
    if (body) resource.Properties.DashboardBody = JSON.parse(body);
  }
  return { Conditions, Resources, Outputs };
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

/**
 * Returns the reviewed files, by their names. Of the stages, production's template is whole, and the others have only
 * the difference from it.
 *
 * @param assembly folder with the synthesized stages
 * @param account folder with the synthesized account stack, for the example repository
 */
export function reviewedFiles(assembly: string, account: string): Record<string, string> {
  const base = stackName(production.name);
  const template = (stack: string) => readable(readTemplate(assembly, stack));
  const renamed = (stack: string) => JSON.parse(JSON.stringify(template(stack)).replaceAll(stack, "<stack>"));
  const others = deployedStages.map(({ name }) => stackName(name)).filter((stack) => stack !== base);
  return {
    [`${accountStackName}.yaml`]: toYaml(readable(readTemplate(account, accountStackName))),
    [`${base}.yaml`]: toYaml(template(base)),
    ...Object.fromEntries(
      others.map((stack) => [
        `${stack}.difference.yaml`,
        toYaml(differenceOf(renamed(base), renamed(stack)) ?? {}),
      ]),
    ),
  };
}
