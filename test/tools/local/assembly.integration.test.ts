import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { servedStackName } from "../../../infra/stages.ts";
import { readStack } from "../../../tools/emulator/template/template.ts";
import { readServedStack } from "../../../tools/local/assembly.ts";
import { shared } from "../../support/shared.ts";

it("serves the code that is deployed, and adds only references to its source maps", () => {
  const assets = readStack(shared.assembly, servedStackName).functions;
  for (const [n, { code }] of readServedStack(shared.assembly).functions.entries())
    for (const file of ["index.cjs", "lambda-entry.mjs"]) {
      const [served, reference] = [code, assets[n]?.code ?? ""].map((folder) =>
        readFileSync(join(folder, file), "utf8"),
      );
      expect(served?.replace(/\/\/# sourceMappingURL=\.\.\/[\w-]+\.js\.map\n$/, "") === reference).toBe(true); // else 200 KiB
    }
});

it("has entries that export what the service serves", async () => {
  for (const { code } of readServedStack(shared.assembly).functions) {
    const { handler } = await import(join(code, "lambda-entry.mjs"));
    expect(handler).toBe(createRequire(import.meta.url)(join(code, "index.cjs")).handler);
  }
});
