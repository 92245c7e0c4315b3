import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { type BuildOptions, buildSync } from "esbuild";
import type { StackDefinition } from "../../../emulator/template/template.ts";
import { esbuildOptions } from "../../../infra/bundle/options.ts";
import { functionOutput } from "../../../infra/names.ts";
import { localStage } from "../../../infra/stages.ts";
import type { Operation } from "../../../lib/operation.ts";
import { getPet } from "../../../lib/operations/get-pet.ts";
import { operations } from "../../../lib/operations.ts";
import { exampleOf } from "../../../openapi/example-values.ts";
import { functionOf } from "../../support/function-of.ts";
import { PET_ID } from "./mock.ts";

/** A bundle that Lambda could start. */
export interface Variant {
  label: string;
  file: string;
  environment: Record<string, string>;
  /** an event for which the handler returns a success */
  event: unknown;
}

const root = join(import.meta.dirname, "../../..");

/** The event that API Gateway sends for a request that the authorizer has admitted. */
const eventOf = ({ params, body }: Operation) => ({
  multiValueHeaders: { "Content-Type": ["application/json"] },
  multiValueQueryStringParameters: null,
  pathParameters: Object.fromEntries(Object.keys(params?.shape ?? {}).map((name) => [name, String(PET_ID)])),
  body: body ? JSON.stringify(exampleOf(body)) : null,
  isBase64Encoded: false,
  requestContext: {
    requestId: "cold-start",
    domainName: "api.example",
    authorizer: { keyId: "key_1", scopes: "pets:read pets:write" },
  },
});

/**
 * Builds the bundles to compare.
 *
 * @param stack has the deployed bundles
 * @param key a key of the local stage, which the mock has
 * @param folder an empty folder for the other bundles
 * @returns the variants; every handler returns a success
 */
export async function buildVariants(stack: StackDefinition, key: string, folder: string): Promise<Variant[]> {
  const eventOfPet = eventOf(getPet);
  const deployed = (id: string, event: unknown, label: string, name: string): Variant => {
    const { code, environment } = functionOf(stack, functionOutput(id));
    const file = join(code, name);
    return { label: `${id}, ${label}`, file, environment: { ...environment, STAGE: localStage.name }, event };
  };
  // Lambda loads `lambda-entry.mjs`, which waits for the warm-up.
  const asDeployed = (id: string, event: unknown) => deployed(id, event, "as deployed", "lambda-entry.mjs");
  // NodejsFunction leaves the SDK out of the bundle.
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const bundled = (source: string, label: string, options: BuildOptions): Variant => {
    const file = join(folder, source.replaceAll("/", "-").replace(/ts$/, "js"));
    const base = { bundle: true, platform: "node", target: esbuildOptions.target, format: "cjs" } as const;
    buildSync({ ...base, ...options, entryPoints: [join(root, source)], outfile: file });
    return { ...asDeployed(getPet.id, eventOfPet), label, file };
  };
  const methodArn = "arn:aws:execute-api:local:000000000000:local/v1/GET/pets";
  const external = ["@aws-sdk/*", "@smithy/*"];
  return [
    ...operations.map((operation) => asDeployed(operation.id, eventOf(operation))),
    asDeployed("authorize", { type: "TOKEN", authorizationToken: `Bearer ${key}`, methodArn }),
    deployed(getPet.id, eventOfPet, "without waiting for the warm-up", "index.cjs"),
    bundled("functions/get-pet.ts", "getPet, NodejsFunction's defaults", { external }),
    bundled("test/long/cold-start/no-sdk.ts", "GetItem without an SDK (the floor)", { minify: true }),
  ];
}
