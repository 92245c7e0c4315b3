import * as fs from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "@jest/globals";
import { errors } from "../../../lib/errors.ts";
import { copyCheckout, quickApp } from "../../support/checkout.ts";
import { eventually } from "../../support/eventually.ts";
import { startService } from "../../support/local-service.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { folder: checkout, entry } = copyCheckout();
fs.symlinkSync("user@host.1:2", join(checkout, "functions/.#get-pet.ts")); // as Emacs does

/** Replaces a file, as many editors do. */
function save(name: string, text: string): void {
  fs.writeFileSync(join(checkout, "draft"), text);
  fs.renameSync(join(checkout, "draft"), join(checkout, name));
}
const [errorsFile, getPetFile, appFile] = ["lib/errors.ts", "functions/get-pet.ts", "infra/app.ts"] as const;
const read = (name: string) => fs.readFileSync(join(root, name), "utf8");
const [source, getPet] = [read(errorsFile), read(getPetFile)];
const before = [errors.not_found.message, errors.unauthorized.message] as const;
const after = ["Changed 0.", "Changed 1."] as const;
const change = (text: string) => text.replaceAll(before[0], after[0]).replaceAll(before[1], after[1]);
const late = JSON.stringify(quickApp(before[1], after[1]));
save(appFile, `${quickApp()} writeFileSync(import.meta.filename, ${late});`); // a change during the start

// What an earlier start has left.
fs.mkdirSync(join(checkout, "data/functions/get-pet/index.cjs"), { recursive: true });
save("data/.gitignore", "# The data of The Animal Store on this machine.\n*\n");
const service = await startService({ DATA_DIR: join(checkout, "data") }, [], { entry, args: ["--watch"] });
afterAll(async () => {
  await service.stop();
  fs.rmSync(checkout, { recursive: true });
});

let seen = 0;
/** Waits until the service prints this, after what it printed for the last call. */
const printed = async (text: string) => {
  const output = () => service.output().slice(seen);
  const all = await eventually(output, (all) => expect(all).toContain(text), { seconds: 50 });
  seen += all.indexOf(text) + text.length;
};
/** Checks the messages of an error of the getPet function, and of the gateway. */
async function expectMessages(...expected: readonly [string, string]): Promise<void> {
  const send = (headers: Record<string, string>) => fetch(`${service.baseUrl}/pets/1`, { headers });
  const responses = [await send({ Authorization: `Bearer ${service.key}` }), await send({})];
  const bodies = (await Promise.all(responses.map((response) => response.json()))) as { message: string }[];
  expect(bodies.map(({ message }) => message)).toEqual(expected);
}

it("serves changes, and the last code and template while a source has a mistake", async () => {
  await printed("Watching functions/, infra/, lib/ for changes.");
  await printed("The changed template is served.");
  await expectMessages(before[0], after[1]);
  save(errorsFile, change(source));
  await printed("The changed functions are served.");
  await printed("The changed template is served.");
  await expectMessages(after[0], after[1]); // although the code of this app is older

  const links = { link: "/nowhere", circle: ".", new: "../tools" };
  for (const [name, target] of Object.entries(links)) fs.symlinkSync(target, join(checkout, "lib", name));
  for (const name of ["lib/folder.ts", "functions/folder.ts"]) fs.mkdirSync(join(checkout, name));
  for (const name of ["tools/generate/limits.ts", "lib/folder.ts/texts.json"]) {
    await printed("The changed functions are served.");
    await printed("The changed template is served.");
    save(name, "// a change");
  }
  await printed("The changed functions are served.");
  await printed("The changed template is served.");

  fs.appendFileSync(join(checkout, errorsFile), "}");
  await printed("The changed functions are not served. ");
  await printed('Unexpected "}"');
  save(appFile, `${quickApp(before[1], after[1])} // a change`);
  await printed("The changed functions are not served. ");
  save(errorsFile, source);
  await printed("The changed functions are served.");
  await printed("The changed template is served.");

  save(appFile, "throw new Error('no template');");
  await printed("The changed template is not served. The CDK app failed:\n");
  await printed("Error: no template");
  const [head = "", tail] = getPet.split(/(?=const pet =)/);
  save(getPetFile, `${head}\n(params as any).x.y;${tail}`);
  await printed("The changed functions are served.");
  await expectMessages(errors.internal_error.message, after[1]);
  await printed(`/functions/get-pet.ts:${head.split("\n").length + 1}:`);

  save(appFile, quickApp("Fn::Join", "Fn::ImportValue"));
  await printed("The template has Fn::ImportValue, which is not supported.");
  save(appFile, quickApp("AWS::ApiGateway::RestApi", "AWS::ApiGatewayV2::Api"));
  await printed("The changed template is not served. The resource ");
  await printed("cannot be served: AWS::ApiGatewayV2::Api is not supported.");
  await expectMessages(errors.internal_error.message, after[1]);

  save(getPetFile, getPet.replace("env(", 'env("NEW") && env(')); // a variable of the next template
  save(appFile, quickApp('"PETS_TABLE":', '"NEW": "x", "PETS_TABLE":'));
  await printed("The changed functions are not served. ");
  await printed("The changed template is served.");
  await expectMessages(...before);
  fs.rmSync(join(checkout, getPetFile)); // and the template still has the function
  await printed("The changed functions are served.");
  await expectMessages(...before);
});
