import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "@jest/globals";
import { stop } from "esbuild";
import { readStack, withCode } from "../../../infra/assembly/template.ts";
import { createRebuild } from "../../../infra/bundle/rebuild.ts";
import { servedStackName } from "../../../infra/stages.ts";

const folder = await mkdtemp(join(tmpdir(), "animal-store-rebuild-"));
afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

it("bundles each function again as the CDK app does, byte for byte", async () => {
  await (await createRebuild(folder))();
  const stack = readStack(process.env.TEST_ASSEMBLY ?? "", servedStackName);
  const changed = withCode(stack, folder).functions;
  expect(changed).toHaveLength(stack.functions.length);
  for (const [n, { code }] of stack.functions.entries()) {
    for (const file of ["index.js", "lambda-entry.mjs"]) {
      expect(await readFile(join(changed[n]?.code ?? "", file), "utf8")).toBe(
        await readFile(join(code, file), "utf8"),
      );
    }
  }
});
