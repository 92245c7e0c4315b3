import { readFile, writeFile } from "node:fs/promises";
import { registerHooks } from "node:module";
import type { OpenAPI3 } from "openapi-typescript";
import { openApiDocument } from "./document.ts";

// The generator prints with the compiler's own API, which TypeScript 7 does not have; ts-morph carries an older one.
const compiler = "@ts-morph/common/dist/typescript.js";
registerHooks({
  resolve: (name, context, next) => next(name === "typescript" ? compiler : name, context),
});
const { astToString, default: generate } = await import("openapi-typescript");

/** Part of `npm run openapi`: writes the API's types for clients; `--check` only says whether they are current. */
const document = openApiDocument() as unknown as OpenAPI3;
const types = astToString(await generate(document, { defaultNonNullable: false }));
const file = new URL("../examples/api.d.ts", import.meta.url);

if (!process.argv.includes("--check")) await writeFile(file, types);
else if ((await readFile(file, "utf8")) !== types) {
  console.error("examples/api.d.ts is not current: run `npm run openapi`.");
  process.exitCode = 1;
}
