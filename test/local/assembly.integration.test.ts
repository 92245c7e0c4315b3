import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { readStack } from "../../emulator/template/template.ts";
import { servedStackName } from "../../infra/stages.ts";
import { readLocalStack, root } from "../../local/assembly.ts";
import { shared } from "../support/shared.ts";

const assets = readStack(shared.assembly, servedStackName).functions;

it.each(readLocalStack(shared.assembly).functions)(
  "$name has the code that is deployed, and frames of the sources",
  ({ name, code }) => {
    const file = join(code, "index.cjs");
    const [served, reference] = readFileSync(file, "utf8").split("//# sourceMappingURL=");
    const asset = readFileSync(
      join(assets.find((one) => one.name === name)?.code ?? "", "index.cjs"),
      "utf8",
    );
    expect(served === asset).toBe(true); // without a difference of 200 KiB
    expect(reference).toMatch(/^\.\.\/[\w-]+\.js\.map\n$/);
    // The code throws, because its environment variables are missing.
    const script = `try { require(${JSON.stringify(file)}) } catch ({ stack }) { console.log(stack) }`;
    const { stdout } = spawnSync(process.execPath, ["--enable-source-maps", "--eval", script], { env: {} });
    const lines = readFileSync(join(root, "lib/env.ts"), "utf8").split("\n");
    const line = lines.findIndex((text) => text.includes("throw new Error")) + 1;
    expect(String(stdout)).toContain(`(${join(root, "lib/env.ts")}:${line}:`);
  },
);
