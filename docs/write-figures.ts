import { readFileSync, writeFileSync } from "node:fs";
import { documents, withFigures } from "./figures.ts";

/** Part of `npm run generate`: writes the figures into the documents. npm runs it in the folder of package.json. */

for (const document of documents)
  writeFileSync(document, withFigures(document, readFileSync(document, "utf8")));
console.log("Wrote the figures of the documents.");
