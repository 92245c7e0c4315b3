import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, expect, it } from "@jest/globals";
import { errors } from "../../lib/errors.ts";
import { readLocalStack } from "../../local/assembly.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/local-service.ts";
import { preload } from "../support/preload.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
// A copy of the sources, whose path has characters that a shell would interpret.
const checkout = await mkdtemp(join(tmpdir(), "animal store's copy-"));
const [errorsFile, appFile] = [join(checkout, "lib/errors.ts"), join(checkout, "infra/app.ts")];
// A link in functions/ names it.
const getPetFile = join(checkout, "elsewhere/get-pet.ts");
const bundles = join(checkout, "data/functions");

/** Instead of the CDK app, which takes seconds: an app that writes what it wrote for the tests, with other texts. */
const app = (changes: Record<string, string> = {}) => `
  import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
  const { CDK_OUTDIR: folder, TEST_ASSEMBLY } = process.env;
  cpSync(TEST_ASSEMBLY, folder, { recursive: true });
  for (const file of readdirSync(folder, { recursive: true })) {
    if (!/\\.(json|js)$/.test(file)) continue;
    let text = readFileSync(folder + "/" + file, "utf8");
    for (const [old, next] of ${JSON.stringify(Object.entries(changes))}) text = text.replaceAll(old, next);
    writeFileSync(folder + "/" + file, text);
  }`;

const copied =
  "functions emulator infra lib local openapi cdk.json package.json package-lock.json tsconfig.json";
for (const name of copied.split(" ")) await cp(join(root, name), join(checkout, name), { recursive: true });
await symlink(join(root, "node_modules"), join(checkout, "node_modules"));
await mkdir(join(checkout, "elsewhere"));
await rename(join(checkout, "functions/get-pet.ts"), getPetFile);
await symlink("../elsewhere/get-pet.ts", join(checkout, "functions/get-pet.ts"));
await symlink(".", join(checkout, "lib/circle"));
// What editors and systems leave; the last one is a link to nowhere.
for (const name of [".get-pet.ts.swp", "get-pet.ts~", "#get-pet.ts#", "get-pet.ts.orig", ".DS_Store"])
  await writeFile(join(checkout, "functions", name), "not a source");
await symlink("user@host.1:2", join(checkout, "functions/.#get-pet.ts"));
await writeFile(appFile, app());

const [source, getPet] = await Promise.all([errorsFile, getPetFile].map((file) => readFile(file, "utf8")));
const originals: Record<string, string> = {
  [appFile]: app(),
  [errorsFile]: source ?? "",
  [getPetFile]: getPet ?? "",
};
const messages = [errors.not_found.message, errors.unauthorized.message];
const changes = { [errors.not_found.message]: "Changed 0.", [errors.unauthorized.message]: "Changed 1." };
const changed = Object.entries(changes).reduce((text, [old, next]) => text.replace(old, next), source ?? "");

/** A module that saves a syntax error when the service is about to serve. */
const earlyMistake = preload(`
  import { appendFileSync } from "node:fs";
  const { log } = console;
  console.log = (text) => {
    log(text);
    if (text.startsWith("BASE_URL")) appendFileSync(${JSON.stringify(errorsFile)}, "}");
  };`);
const service = await startService({ DATA_DIR: join(checkout, "data") }, [earlyMistake], {
  entry: join(checkout, "local/start.ts"),
  args: ["--watch"],
});

let start = 0;
/** What the service printed since the start of the test. */
const output = () => service.output().slice(start);
const printed = (text: string) => eventually(output, (all) => expect(all).toContain(text), { seconds: 50 });
/** What it said last of a change. */
const lastReport = () => [...output().matchAll(/^The changed (.*)/gm)].at(-1)?.[1];
await printed("The changed functions are not served.");

beforeEach(async () => {
  await restore();
  start = service.output().length;
});
afterAll(async () => {
  await service.stop();
  await rm(checkout, { recursive: true });
});

/** The message of an error of the getPet function, or without a key of the gateway. */
async function message(headers = { Authorization: `Bearer ${service.key}` } as Record<string, string>) {
  const response = await fetch(`${service.baseUrl}/pets/1`, { headers });
  return ((await response.json()) as { message: string }).message;
}
/** Waits until the function and the gateway have these messages. */
const served = (...messages: string[]) =>
  eventually(
    async () => [await message(), await message({})],
    (actual) => expect(actual).toEqual(messages),
    { seconds: 50 },
  );

/** Each instance of a function is a thread. Only Linux lists them. */
const threads = async () =>
  process.platform === "linux" ? (await readdir(`/proc/${service.process.pid}/task`)).length : 0;

/** Replaces a file, as many editors do. */
async function save(target: string, text: string): Promise<void> {
  const draft = join(checkout, "draft");
  await writeFile(draft, text);
  await rename(draft, target);
}

/** Saves the original sources that a test changed, and waits until they are served. */
async function restore(): Promise<void> {
  start = service.output().length;
  const texts = await Promise.all(
    Object.keys(originals).map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const changed = Object.entries(originals).filter(([, text], n) => text !== texts[n]);
  for (const [file, text] of changed) await save(file, text);
  const isNew = existsSync(join(checkout, "functions/new.ts"));
  await rm(join(checkout, "functions/new.ts"), { force: true });
  if (changed.length > 0 || isNew)
    await eventually(lastReport, (last) => expect(last).toMatch(/(are|is) served\.$/), { seconds: 50 });
  await served(...messages);
}

it("names a source with an error that was saved during the start", () => {
  const [, afterStart = ""] = service.output().split("Watching functions/, infra/, lib/ for changes.");
  expect(afterStart).toMatch(/^\nThe changed functions are not served\. (.*\n)*.*errors\.ts/);
});

it("serves changed functions and templates, and ends the threads of those before", async () => {
  const before = await threads();
  await save(appFile, app(changes));
  await save(errorsFile, changed);
  await printed("The changed functions are served.");
  await save(errorsFile, changed); // which cancels the synthesis, and is no mistake
  await served(...Object.values(changes));
  await printed("The changed template is served.");
  expect(output()).not.toContain("not served");
  await eventually(threads, (count) => expect(count).toBeLessThanOrEqual(before));
});

it("serves a changed function without a synthesis, and logs where it fails in the source", async () => {
  await save(appFile, "throw new Error('no template');");
  await printed("no template");
  const [before = "", after] = getPet?.split(/(?=const pet =)/) ?? [];
  await save(getPetFile, `${before}\n(params as any).x.y;${after}`);
  await served(errors.internal_error.message, messages[1] ?? "");
  await printed(`/elsewhere/get-pet.ts:${before.split("\n").length + 1}:`);
});

it("serves the last template while it cannot serve the next, and says last what is true", async () => {
  const refused = "AWS::ApiGatewayV2::Api";
  await save(appFile, app({ ...changes, "AWS::ApiGateway::RestApi": refused }));
  await printed(`The changed template is not served. `);
  await printed(`${refused} is not supported.`);
  await save(appFile, "throw new Error('no template');");
  await printed("Error: no template");
  await served(...messages);
  await save(appFile, app());
  await reported("template is served.");
  expect(output()).not.toContain("functions are");
});

it("serves the last code while a source has an error, also that of a new function", async () => {
  await cp(join(root, "functions/get-pet.ts"), join(checkout, "functions/new.ts"));
  await printed("The changed functions are served.");
  await save(errorsFile, `${changed}\n)`);
  await printed('Unexpected ")"');
  await served(...messages);
  // New instances can still load it.
  for (const name of ["get-pet", "new"]) expect(await readdir(join(bundles, name))).toContain("index.cjs");
});

it("bundles a function as the CDK app does, byte for byte, and adds its source map", async () => {
  const assembly = process.env.TEST_ASSEMBLY ?? "";
  const read = ({ code = "" }) =>
    Promise.all(["index.cjs", "lambda-entry.mjs"].map((file) => readFile(join(code, file), "utf8")));
  const served = await Promise.all(readLocalStack(assembly, bundles).functions.map(read));
  const withoutMap = (text: string) => text.replace(/^\/\/# sourceMappingURL=.*\n/m, "");
  const deployed = await Promise.all(readLocalStack(assembly).functions.map(read));
  const [servedCode, code] = [served, deployed].map((all) => all.map((files) => files.map(withoutMap)));
  expect(servedCode).toEqual(code);
});

const reported = (report: string) =>
  eventually(lastReport, (last) => expect(last).toBe(report), { seconds: 50 });

it("reports last what is true after a file was removed and restored", async () => {
  await rm(getPetFile);
  await reported("functions are not served. functions/get-pet.ts is missing.");
  await save(getPetFile, getPet ?? "");
  await reported("functions are served.");
});
