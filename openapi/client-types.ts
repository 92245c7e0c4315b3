import { registerHooks } from "node:module";
import type { OpenAPI3 } from "openapi-typescript";
import { openApiDocument } from "./document.ts";

// openapi-typescript needs the compiler's API, which TypeScript 7 does not have. ts-morph contains an older compiler.
const compiler = "@ts-morph/common/dist/typescript.js";
registerHooks({
  resolve: (name, context, next) => next(name === "typescript" ? compiler : name, context),
});
const { astToString, default: generate } = await import("openapi-typescript");

/** The TypeScript types of the API, as the `openapi-typescript` command writes them. */
export const clientTypes = async () => astToString(await generate(openApiDocument() as unknown as OpenAPI3));
