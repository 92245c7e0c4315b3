import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import { type Plugin, stop } from "esbuild";
import { readStack } from "../../../emulator/template/template.ts";
import { bundleFunctions } from "../../../infra/bundle/bundles.ts";
import { entryName, functionOutput, stackName } from "../../../infra/names.ts";
import { deployedStages, servedStackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { functionOf } from "../../support/function-of.ts";
import type { Json } from "../../support/json.ts";
import { functionNames } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

// An import would load all of it.
const { FileSystem } = createRequire(import.meta.url)("aws-cdk-lib/core");
const { packages } = JSON.parse(readFileSync(new URL("../../../package-lock.json", import.meta.url), "utf8"));

const stack = readStack(shared.assembly, servedStackName);

/** Adds a line with a comment to every source. */
const commented: Plugin = {
  name: "commented",
  setup: (build) =>
    build.onLoad({ filter: /(lib|functions)\/.*\.ts$/ }, ({ path }) => ({
      contents: `// another comment\n${readFileSync(path, "utf8")}`,
      loader: "ts",
    })),
};
const bundles = await bundleFunctions({ plugins: [commented] });
afterAll(stop); // the process of esbuild

describe.each(functionNames)("%s", (id) => {
  const { code } = functionOf(stack, functionOutput(id));
  const text = readFileSync(join(code, "index.cjs"), "utf8");
  const [bundle, map] = ["js", "js.map"].map(
    (extension) => bundles.find(({ path }) => basename(path) === `${entryName(id)}.${extension}`)?.text ?? "",
  );
  const { sources } = JSON.parse(map ?? "");
  const isAuthorizer = id === "authorize";

  // Without infra/bundle/replacements/environment-credentials.ts, a bundle has 130 KiB more than its about 200.
  it("has less than 300 KiB, so it looks for credentials in the environment only", () => {
    expect(Buffer.byteLength(text)).toBeLessThan(300 * 1024);
  });

  it("describes its own operation only", () => {
    const described = operations.filter((operation) => text.includes(`"${operation.id}"`));
    expect(described.map((operation) => operation.id)).toEqual(isAuthorizer ? [] : [id]);
  });

  it("has the same files with another comment, so it is not deployed again", () => {
    expect(readdirSync(code)).toEqual(["index.cjs", "lambda-entry.mjs"]);
    expect({ isSame: text === bundle }).toEqual({ isSame: true }); // without a difference of 200 KiB
    expect(sources).toContain("../lib/dynamo/client.ts"); // a source map can be made later
  });

  it("holds only packages that `dependencies` need", () => {
    const packageFolder = /node_modules\/(.*\/node_modules\/)?(@[^/]+\/)?[^/]+/g;
    const found = [...new Set<string>(sources.join("\n").match(packageFolder))];
    expect(found).not.toEqual([]);
    // package-lock.json marks every other package with one of these.
    const isOther = ({ dev, optional, devOptional }: Json = { dev: true }) => dev || optional || devOptional;
    expect(found.filter((path) => isOther(packages[path]))).toEqual([]);
  });
});

it.each(deployedStages)(
  "$name gets a function only if its own code or what it imports has changed",
  ({ name }) => {
    for (const { code } of readStack(shared.assembly, stackName(name)).functions)
      expect(basename(code)).toBe(`asset.${FileSystem.fingerprint(code)}`);
  },
);
