import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync } from "esbuild";
import { functionOf, type StackDefinition } from "../../emulator/template/template.ts";
import { entryName } from "../../infra/bundle/options.ts";
import { functionOutput } from "../../infra/pascal-case.ts";
import { localStage } from "../../infra/stages.ts";
import { exampleOf } from "../../lib/examples.ts";
import type { Operation } from "../../lib/operation.ts";
import { createPet } from "../../lib/operations/create-pet.ts";
import { getPet } from "../../lib/operations/get-pet.ts";
import { operations } from "../../lib/operations.ts";
import { requestEvent } from "../requests.ts";

/** A bundle that Lambda could start. */
export interface Variant {
  label: string;
  file: string;
  environment: Record<string, string>;
  /** an event for which the handler returns a success */
  event: unknown;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** An event for each function. createPet is the first one, because it stores the pet that the others read. */
function eventsOf(key: string): [id: string, event: unknown][] {
  const others = operations.filter((operation) => operation !== createPet);
  const authorizerEvent = {
    type: "TOKEN",
    authorizationToken: `Bearer ${key}`,
    methodArn: "arn:aws:execute-api:local:000000000000:local/v1/GET/pets",
  };
  return [
    ...[createPet, ...others].map(({ id, params, body }: Operation): [string, unknown] => {
      const names = Object.keys(params?.shape ?? {});
      const pathParameters = Object.fromEntries(names.map((name) => [name, "1"]));
      return [id, requestEvent({ pathParameters, body: body ? JSON.stringify(exampleOf(body)) : null })];
    }),
    ["authorize", authorizerEvent],
  ];
}

function bundle(source: string, outfile: string, options: BuildOptions = { minify: true }) {
  const base = { bundle: true, platform: "node", target: "node24", format: "cjs" } as const;
  buildSync({ ...base, ...options, entryPoints: [join(root, source)], outfile });
  return outfile;
}

/**
 * Builds the bundles to compare.
 *
 * @param stack has the deployed bundles
 * @param key a key of the local stage, which the mock has
 * @param folder an empty folder for the other bundles
 * @returns the variants in an order in which every handler returns a success
 */
export async function buildVariants(stack: StackDefinition, key: string, folder: string): Promise<Variant[]> {
  // NodejsFunction leaves the SDK out of the bundle.
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const functions = eventsOf(key).map(([id, event]) => {
    const { code, environment } = functionOf(stack, functionOutput(id));
    return {
      id,
      entry: entryName(id),
      code,
      environment: { ...environment, STAGE: localStage.name },
      event,
    };
  });
  // Lambda loads `lambda-entry.mjs`, which waits for the warm-up; `index.js` does not wait.
  const deployed = (file: "lambda-entry.mjs" | "index.js", label: string) =>
    functions.map(({ entry, code, ...rest }) => ({
      ...rest,
      label: `${entry}, ${label}`,
      file: join(code, file),
    }));
  const defaults = functions.map(({ entry, code, ...rest }) => {
    const external = ["@aws-sdk/*", "@smithy/*"];
    const file = bundle(`functions/${entry}.ts`, join(folder, `${entry}.js`), { external });
    return { ...rest, label: `${entry}, NodejsFunction's defaults`, file };
  });
  const references = [
    { label: "GetItem without an SDK (the floor)", name: "no-sdk" },
    { label: "typical getPet: document client, zod, one file", name: "typical" },
  ].map(({ label, name }) => {
    const file = bundle(`bench/cold/handlers/${name}.ts`, join(folder, `${name}.js`));
    const { environment = {}, event } = functions.find(({ id }) => id === getPet.id) ?? {};
    return { label, file, environment, event };
  });
  return [
    ...deployed("lambda-entry.mjs", "as deployed"),
    ...deployed("index.js", "without waiting for the warm-up"),
    ...defaults,
    ...references,
  ];
}
