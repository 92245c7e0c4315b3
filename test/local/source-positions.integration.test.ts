import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { readStack } from "../../emulator/template/template.ts";
import { servedStackName } from "../../infra/stages.ts";
import { readLocalStack, root } from "../../local/assembly.ts";
import { withSourcePositions } from "../../local/source-positions.ts";
import { shared } from "../support/shared.ts";

const codeOf = ({ code = "" } = {}) => readFileSync(join(code, "index.cjs"), "utf8");
const assets = readStack(shared.assembly, servedStackName).functions;

it.each(readLocalStack(shared.assembly).functions)(
  "$name has the code that is deployed, and frames of the sources",
  (fn) => {
    const code = codeOf(fn);
    expect(code === codeOf(assets.find(({ name }) => name === fn.name))).toBe(true); // without a difference of 200 KiB
    const linesTo = (text: string) => text.slice(0, text.indexOf("AWS_LAMBDA_FUNCTION_VERSION")).split("\n");
    const before = linesTo(code);
    const other = "at other (/bundles/other/index.cjs:1:2)";
    const frame = `at x (${fn.code}/index.cjs:${before.length}:${before.at(-1)?.length})`;
    const line = linesTo(readFileSync(join(root, "lib/env.ts"), "utf8")).length;
    const shown = JSON.parse(withSourcePositions(JSON.stringify([frame, other])));
    expect(shown).toEqual([
      expect.stringMatching(`^at x \\(${RegExp.escape(root)}lib/env\\.ts:${line}:\\d+\\)$`),
      other,
    ]);
  },
);
