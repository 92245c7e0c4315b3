import { readFile, writeFile } from "node:fs/promises";
import { clientTypes } from "./client-types.ts";
import { openApiText } from "./document.ts";
import { openApi30Text } from "./openapi-3-0.ts";

/** `npm run openapi`: writes what follows from lib/operations.ts. With --check, only reports files that are not current. */
const files = {
  "openapi.json": openApiText(),
  "openapi-3.0.json": openApi30Text(),
  "examples/api.d.ts": await clientTypes(),
};

for (const [name, text] of Object.entries(files)) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes("--check")) {
    await writeFile(file, text);
  } else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    console.error(`${name} is not current: run \`npm run openapi\`.`);
    process.exitCode = 1;
  }
}
