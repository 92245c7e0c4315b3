import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import { servedStack } from "../../infra/stages.ts";
import { generateApiKey } from "../../lib/api-key.ts";
import { readStack } from "../../local/assembly/template.ts";
import { body, requestEvent } from "../requests.ts";

/** A bundle that Lambda could start. */
export interface Variant {
  label: string;
  file: string;
  /** an event for which the handler returns a success */
  event: unknown;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const getEvent = requestEvent({ pathParameters: { petId: "1" } });

/** The functions: the start of their logical id, their source, and an event. */
const functions = [
  { id: "GetPet", entry: "get-pet", event: getEvent },
  { id: "ListPets", entry: "list-pets", event: requestEvent() },
  { id: "CreatePet", entry: "create-pet", event: requestEvent({ body }) },
  {
    id: "Authorize",
    entry: "authorize",
    event: {
      type: "TOKEN",
      authorizationToken: `Bearer ${generateApiKey("local")}`,
      methodArn: "arn:aws:execute-api:local:000000000000:local/v1/GET/pets",
    },
  },
];

async function bundle(source: string, outfile: string, options: BuildOptions = { minify: true }) {
  const base = { bundle: true, platform: "node", target: "node24", format: "cjs" } as const;
  await build({ ...base, ...options, entryPoints: [join(root, source)], outfile });
  return outfile;
}

/** The bundles that are deployed. Lambda loads `start.mjs`, which waits for the warm-up; `index.js` does not wait. */
function deployed(assembly: string, file: "start.mjs" | "index.js", label: string): Variant[] {
  const stack = readStack(assembly, servedStack);
  return functions.map(({ id, entry, event }) => {
    const folder = stack.functions.find(({ name }) => name.startsWith(id))?.code ?? "";
    return { label: `${entry}, ${label}`, file: join(folder, file), event };
  });
}

/**
 * Builds the bundles to compare.
 *
 * @param folder an empty folder for the bundles
 */
export async function buildVariants(assembly: string, folder: string): Promise<Variant[]> {
  // NodejsFunction leaves the SDK out of the bundle.
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const defaults = functions.map(async ({ entry, event }) => {
    const external = ["@aws-sdk/*", "@smithy/*"];
    const file = await bundle(`functions/${entry}.ts`, join(folder, `${entry}.js`), { external });
    return { label: `${entry}, NodejsFunction's defaults`, file, event };
  });
  const references = [
    { label: "GetItem without an SDK (the floor)", name: "no-sdk" },
    { label: "typical getPet: document client, zod, one file", name: "typical" },
  ].map(async ({ label, name }) => {
    const file = await bundle(`bench/cold/handlers/${name}.ts`, join(folder, `${name}.js`));
    return { label, file, event: getEvent };
  });
  return [
    ...deployed(assembly, "start.mjs", "as deployed"),
    ...deployed(assembly, "index.js", "without waiting for the warm-up"),
    ...(await Promise.all([...defaults, ...references])),
  ];
}
