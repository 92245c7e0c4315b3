import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { readStack } from "../../infra/assembly/template.ts";
import { bundling } from "../../infra/bundle/options.ts";
import { localStack } from "../../infra/stages.ts";
import { generateApiKey } from "../../lib/api-key.ts";
import { body, event } from "../events.ts";

/** Something that Lambda could start. */
export interface Variant {
  name: string;
  file: string;
  event: unknown;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const ESBUILD: BuildOptions = { bundle: true, platform: "node", target: "node24", format: "cjs" };

const keyEvent = {
  type: "TOKEN",
  authorizationToken: `Bearer ${generateApiKey("local")}`,
  methodArn: "arn:aws:execute-api:local:000000000000:local/v1/GET/pets",
};

/** The functions of the service: part of their logical id, source, and an event that they answer with success. */
export const services = [
  { id: "GetPet", entry: "get-pet", event: event({ pathParameters: { petId: "1" } }) },
  { id: "ListPets", entry: "list-pets", event: event() },
  { id: "CreatePet", entry: "create-pet", event: event({ body }) },
  { id: "Authorize", entry: "authorize", event: keyEvent },
];

/** The service's bundles as they are deployed: `start.mjs` waits for the warm-up, `index.js` does not. */
export function deployed(assembly: string): (Variant & { folder: string })[] {
  const { functions } = readStack(assembly, localStack);
  return services.map(({ id, entry, event }) => {
    const folder = functions.find(({ name }) => name.startsWith(id))?.code ?? "";
    return { name: entry, folder, file: join(folder, "start.mjs"), event };
  });
}

/** The same source as NodejsFunction bundles it unless told otherwise: not minified, the SDK beside it. */
export async function defaults(folder: string): Promise<Variant[]> {
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return Promise.all(
    services.map(async ({ entry, event }) => {
      const file = join(folder, `${entry}-defaults.js`);
      const entryPoints = [join(root, `functions/${entry}.ts`)];
      await build({ ...ESBUILD, entryPoints, outfile: file, external: ["@aws-sdk/*", "@smithy/*"] });
      return { name: entry, file, event };
    }),
  );
}

/** The deployed bundles but for the warm-up: what a first request then does itself. */
export async function withoutWarmUp(folder: string): Promise<Variant[]> {
  const plugin: Plugin = {
    name: "no-warm-up",
    setup: ({ onLoad }) =>
      onLoad({ filter: /lib\/warm-up\.ts$/ }, () => ({
        contents: "export const warmUp = () => Promise.resolve()",
      })),
  };
  return Promise.all(
    services.map(async ({ entry, event }) => {
      const file = join(folder, `${entry}-cold.js`);
      const entryPoints = [join(root, `functions/${entry}.ts`)];
      await build({ ...bundling, sourcemap: false, plugins: [plugin], entryPoints, outfile: file });
      return { name: entry, file, event };
    }),
  );
}

/** Other functions that do what getPet does, or less, for comparison. */
export async function references(
  folder: string,
): Promise<Record<"empty" | "signed" | "sdk" | "typical", Variant>> {
  const make = async (name: string): Promise<Variant> => {
    const file = join(folder, `${name}.js`);
    const entryPoints = [fileURLToPath(new URL(`handlers/${name}.ts`, import.meta.url))];
    await build({ ...ESBUILD, minify: true, entryPoints, outfile: file });
    return { name, file, event: event({ pathParameters: { petId: "1" } }) };
  };
  const [empty, signed, sdk, typical] = await Promise.all(["empty", "signed", "sdk", "typical"].map(make));
  if (!empty || !signed || !sdk || !typical) throw new Error("A reference was not built.");
  return { empty, signed, sdk, typical };
}
