import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { errors } from "../../lib/errors.ts";
import { readLocalStack } from "../../local/assembly.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalService, startService } from "../support/local-service.ts";
import { preload } from "../support/preload.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
// A copy of the sources, whose path has characters that a shell would interpret.
const checkout = await mkdtemp(join(tmpdir(), "animal store's copy-"));
const [file, appFile] = [join(checkout, "lib", "errors.ts"), join(checkout, "infra", "app.ts")];
// A link in functions/ names it.
const functionFile = join(checkout, "elsewhere", "get-pet.ts");
const source = await readFile(join(root, "lib", "errors.ts"), "utf8");
let service: LocalService;

let start: number;
/** What the service printed since the start of the test. */
const output = () => service.output().slice(start);
const printed = (text: string) => eventually(output, (all) => expect(all).toContain(text), { seconds: 50 });

/** A module that saves a syntax error when the service is about to serve. */
const earlyMistake = preload(`
  import { appendFileSync } from "node:fs";
  const { log } = console;
  console.log = (text) => {
    log(text);
    if (text.startsWith("BASE_URL")) appendFileSync(${JSON.stringify(file)}, "}");
  };`);

beforeAll(async () => {
  const sources =
    "functions emulator infra lib local openapi cdk.json package.json package-lock.json tsconfig.json";
  for (const name of sources.split(" ")) {
    await cp(join(root, name), join(checkout, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(checkout, "node_modules"));
  await mkdir(join(checkout, "elsewhere"));
  await rename(join(checkout, "functions/get-pet.ts"), functionFile);
  await symlink("../elsewhere/get-pet.ts", join(checkout, "functions/get-pet.ts"));
  await symlink(".", join(checkout, "lib/circle"));
  // What editors and systems leave; the last one is a link to nowhere.
  for (const name of [".get-pet.ts.swp", "get-pet.ts~", "#get-pet.ts#", "get-pet.ts.orig", ".DS_Store"])
    await writeFile(join(checkout, "functions", name), "not a source");
  await symlink("user@host.1:2", join(checkout, "functions/.#get-pet.ts"));
  service = await startService({ DATA_DIR: join(checkout, "data") }, [earlyMistake], {
    entry: join(checkout, "local", "start.ts"),
    args: ["--watch"],
  });
  await service.printed("Watching functions/, infra/, lib/ for changes.");
  await service.printed("The changed functions are not served.");
  await service.printed("errors.ts");
  expect(service.output()).not.toContain("are served");
  await save(file, source);
  await service.printed("The changed functions are served.");
});
beforeEach(() => {
  start = service.output().length;
});
afterAll(async () => {
  await service?.stop();
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

/** Instead of the CDK app, which takes seconds: an app that writes what it wrote for the tests, with other messages. */
const app = (messages: string[], changed: string[]) => `
  import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
  const { CDK_OUTDIR: folder, TEST_ASSEMBLY } = process.env;
  cpSync(TEST_ASSEMBLY, folder, { recursive: true });
  for (const file of readdirSync(folder, { recursive: true })) {
    if (!/\\.(json|js)$/.test(file)) continue;
    const texts = ${JSON.stringify([messages, changed])};
    const text = readFileSync(folder + "/" + file, "utf8");
    writeFileSync(folder + "/" + file, texts[0].reduce((all, old, n) => all.replaceAll(old, texts[1][n]), text));
  }`;

/** Replaces a file, as many editors do. */
async function save(target: string, text: string): Promise<void> {
  const draft = join(checkout, "draft");
  await writeFile(draft, text);
  await rename(draft, target);
}

it("serves changed functions and templates, and the old ones while a source has an error", async () => {
  const original = [errors.not_found.message, errors.unauthorized.message];
  const changes = ["Changed 0.", "Changed 1."];
  await served(...original);
  const started = await threads();

  const changed = original.reduce((text, old, n) => text.replace(old, changes[n] ?? ""), source);
  expect(changed).not.toBe(source);
  await save(appFile, app(original, changes));
  await cp(join(root, "functions/get-pet.ts"), join(checkout, "functions/new.ts"));
  await save(file, changed);
  await printed("The changed functions are served.");
  await save(file, changed); // which cancels the synthesis, and is no mistake
  await served(...changes);
  await printed("The changed template is served.");
  await eventually(threads, (count) => expect(count).toBeLessThanOrEqual(started));

  // A change of functions/ needs no synthesis. An error has its place in the source.
  const getPet = await readFile(functionFile, "utf8");
  await save(functionFile, getPet.replace(/(?=const pet =)/, "\n(params as any).x.y;"));
  await served(errors.internal_error.message, "Changed 1.");
  const line = getPet.split("const pet =")[0]?.split("\n").length ?? 0;
  await printed(`/elsewhere/get-pet.ts:${line + 1}:`);
  await save(functionFile, getPet);
  await served(...changes);

  // Later, changed functions need the last template that was served.
  const refused = "AWS::ApiGatewayV2::Api";
  await save(appFile, app([...original, "AWS::ApiGateway::RestApi"], [...changes, refused]));
  await printed(`${refused} is not supported.`);

  await save(file, `${source}\n)`);
  await printed('Unexpected ")"');
  await served(...changes);
  // New instances can still load the last code, also that of a new function.
  const functions = join(checkout, "data", "functions");
  for (const name of ["get-pet", "new"]) expect(await readdir(join(functions, name))).toContain("index.cjs");

  // A function does not wait for the template.
  await save(appFile, "throw new Error('no template');");
  await save(file, source);
  await printed("no template");
  expect(output().split("not served").pop()).not.toMatch(/node:internal|node_modules/);
  expect(output().match(/template is (not )?served/g)).toHaveLength(3);
  await served(original[0] ?? "", "Changed 1.");

  // A changed function is bundled as the CDK app bundles it, byte for byte, with its source map.
  const assembly = process.env.TEST_ASSEMBLY ?? "";
  const read = ({ code = "" }) =>
    Promise.all(["index.cjs", "lambda-entry.mjs"].map((file) => readFile(join(code, file), "utf8")));
  const changedCode = await Promise.all(readLocalStack(assembly, functions).functions.map(read));
  const withoutMap = (text: string) => text.replace(/^\/\/# sourceMappingURL=.*\n/m, "");
  const code = await Promise.all(readLocalStack(assembly).functions.map(read));
  const [changedFiles, files] = [changedCode, code].map((all) => all.map((texts) => texts.map(withoutMap)));
  expect(changedFiles).toEqual(files);
}, 120_000);

it("reports last what is true: after a removed file, an undone mistake, and a change of infra/ alone", async () => {
  const reported = (report: string) =>
    eventually(
      () =>
        output()
          .match(/^The changed .*/gm)
          ?.at(-1),
      (last) => expect(last).toBe(`The changed ${report}`),
      { seconds: 50 },
    );
  const getPet = await readFile(functionFile, "utf8");
  await save(appFile, app([], []));
  await reported("template is served.");
  await rm(functionFile);
  await reported("functions are not served. functions/get-pet.ts is missing.");
  await save(functionFile, getPet);
  await reported("functions are served.");
  await save(appFile, "throw new Error('no template');");
  await reported("template is not served. The CDK app failed:");
  await save(appFile, app([], []));
  await reported("template is served.");
  expect(
    output()
      .match(/^The changed .*/gm)
      ?.slice(-3, -2),
  ).toEqual(["The changed functions are served."]);
}, 120_000);
