import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { bundleFunctions } from "../../../infra/bundle/bundles.ts";
import { entryName, functionOutput } from "../../../infra/names.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { readStack } from "../../../tools/emulator/template/template.ts";
import { functionOf } from "../../support/function-of.ts";
import type { Json } from "../../support/json.ts";
import { functionNames } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

const { packages } = JSON.parse(readFileSync(new URL("../../../package-lock.json", import.meta.url), "utf8"));
const stack = readStack(shared.assembly, servedStackName);
const bundles = await bundleFunctions();

describe.each(functionNames)("%s", (id) => {
  const { code, handler } = functionOf(stack, functionOutput(id));
  const text = readFileSync(join(code, "index.cjs"), "utf8");

  // Without infra/bundle/replacements/environment-credentials.ts, a bundle has 136 KiB more than its 168 to 211.
  it("has less than 280 KiB, in files that Lambda can read", () => {
    const files = readdirSync(code).map((file) => `${file} ${statSync(join(code, file)).mode.toString(8)}`);
    const entry = handler.replace(/\.handler$/, ".mjs");
    expect(files).toEqual(["index.cjs 100644", `${entry} 100644`]); // no source map, which a comment changes
    expect(Buffer.byteLength(text)).toBeLessThan(280 * 1024);
  });

  it("describes its own operation only", () => {
    const described = operations.filter((operation) => text.includes(`"${operation.id}"`));
    expect(described.map((operation) => operation.id)).toEqual(id === "authorize" ? [] : [id]);
  });

  it("holds only packages that `dependencies` need", () => {
    const map = bundles.find(({ path }) => basename(path) === `${entryName(id)}.js.map`)?.text ?? "";
    const packageFolder = /node_modules\/(.*\/node_modules\/)?(@[^/]+\/)?[^/]+/g;
    const found = [...new Set<string>(JSON.parse(map).sources.join("\n").match(packageFolder))];
    expect(found).not.toEqual([]);
    // package-lock.json marks every other package with one of these.
    const isOther = ({ dev, optional, devOptional }: Json = { dev: true }) => dev || optional || devOptional;
    expect(found.filter((path) => isOther(packages[path]))).toEqual([]);
  });
});
