import { execFile } from "node:child_process";
import { mkdtempDisposableSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BuildOptions, buildSync } from "esbuild";
import { esbuildOptions } from "../../../infra/bundle/options.ts";
import { functionOutput } from "../../../infra/names.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { generateApiKey, hashApiKey, NO_END } from "../../../lib/api-key.ts";
import { getPet } from "../../../lib/operations/get-pet.ts";
import { operations } from "../../../lib/operations.ts";
import { awsEnvironment } from "../../../tools/emulator/store/aws-environment.ts";
import { readStack } from "../../../tools/emulator/template/template.ts";
import { format, insert, table } from "../../../tools/generate/markdown.ts";
import { synthesize } from "../../../tools/local/synthesize.ts";
import { authorizerEvent, exampleEvent } from "../../support/event.ts";
import { functionOf } from "../../support/function-of.ts";
import { listen } from "../../support/listen.ts";

/** Starts of each function. Those of a round follow one another, so that other work affects all equally. */
const ROUNDS = 15;

const root = join(import.meta.dirname, "../../..");
const certificate = join(import.meta.dirname, "certificate.pem");
const key = generateApiKey("staging");

/** Starts an HTTPS server that responds in place of DynamoDB, immediately. @returns its endpoint */
async function startMock(): Promise<string> {
  // A pet that has the attributes by which the authorizer accepts a key.
  const one = { N: "1" };
  const pet = { id: one, categoryId: one, creationOrder: one, name: { S: "Rex" }, status: { S: "sold" } };
  const item = { ...pet, hash: { S: hashApiKey(key) }, endsAt: { N: String(NO_END) } };
  // Where GetItem, Query, or a write with ReturnValues has it: a client ignores the rest.
  const body = JSON.stringify({ Item: item, Items: [item], Attributes: item });
  const pem = readFileSync(certificate);
  const server = createServer({ key: pem, cert: pem }, (request, response) => {
    response.setHeader("Content-Type", "application/x-amz-json-1.0");
    request.resume().on("end", () => response.end(body));
  });
  return (await listen(server.unref())).origin.replace("http", "https");
}

/** Builds the bundles to compare in an empty folder. @returns them, with events for which they return a success */
async function buildVariants(folder: string) {
  await synthesize(folder);
  const stack = readStack(folder, servedStackName);
  const deployed = (id: string, event: object, label = "as deployed", name = "lambda-entry.mjs") => {
    const { code, environment } = functionOf(stack, functionOutput(id));
    return { label: `${id}, ${label}`, file: join(code, name), environment, event };
  };
  const event = exampleEvent(getPet);
  const bundles = mkdtempSync(join(folder, "bundles-"));
  // NodejsFunction leaves the SDK out of the bundle.
  symlinkSync(join(root, "node_modules"), join(bundles, "node_modules"));
  const bundled = (source: string, label: string, options: BuildOptions) => {
    const file = join(bundles, `${label}.js`);
    const base = { bundle: true, platform: "node", target: esbuildOptions.target, format: "cjs" } as const;
    buildSync({ ...base, ...options, entryPoints: [join(root, source)], outfile: file });
    return { ...deployed(getPet.id, event), label, file };
  };
  const external = ["@aws-sdk/*", "@smithy/*"];
  return [
    ...operations.map((operation) => deployed(operation.id, exampleEvent(operation))),
    deployed("authorize", authorizerEvent(`Bearer ${key}`)),
    deployed(getPet.id, event, "without waiting for the warm-up", "index.cjs"),
    bundled("functions/get-pet.ts", "getPet, NodejsFunction's defaults", { external }),
    bundled("test/long/cold-start/no-sdk.ts", "GetItem without an SDK (the floor)", { minify: true }),
  ].map((variant) => ({ ...variant, starts: [] as Record<string, number>[] }));
}

/** Measures the cold starts of the functions on this machine, and updates docs/benchmarks.md. */
export async function benchmark(): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "animal-store-cold-start-"));
  const variants = await buildVariants(folder.path);
  const aws = { ...awsEnvironment({ endpoint: await startMock() }), NODE_EXTRA_CA_CERTS: certificate };
  for (let round = 0; round < ROUNDS; round++)
    for (const { file, environment, event, starts } of variants) {
      const args = [join(import.meta.dirname, "child.cjs"), file, JSON.stringify(event)];
      const options = { env: { ...environment, ...aws } };
      const { stdout } = await promisify(execFile)(process.execPath, args, options);
      starts.push(JSON.parse(stdout));
    }
  const columns = Object.keys(variants[0]?.starts[0] ?? {});
  const rows = variants.map(({ label, starts }) => {
    const median = (name: string) =>
      Number(starts.map((start) => Number(start[name])).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]);
    return [label, ...columns.map((name) => format(median(name), name === "KiB" ? 0 : 1))];
  });
  const cold = table(["", ...columns], rows);

  const date = new Date().toISOString().slice(0, 10);
  const model = cpus()[0]?.model.trim() || "unknown";
  const memory = Math.round(totalmem() / 2 ** 30);
  const machine = `${date}: ${availableParallelism()} cores (${model}), ${memory} GiB of memory, Node ${process.version} on ${process.platform} ${process.arch}.`;
  console.log(`${machine}\n${cold}`);
  const document = join(root, "docs/benchmarks.md");
  writeFileSync(document, insert(insert(readFileSync(document, "utf8"), "machine", machine), "cold", cold));
}
