import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";

const root = new URL("../", import.meta.url);
const text = (file: string) => readFileSync(new URL(file, root), "utf8");

it("pins exact versions", () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(text("package.json"));
  for (const version of Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

it.each([
  ["infra/bundle/options.ts", /target: "node(\d+)"/g],
  ["package.json", /"(?:@types\/node|node-[\w-]+)": "(\d+)\./g],
  [".github/**/*.yml", /node-version: (\d+)/g],
  ["tools/node.sh", /(?:-ge|"Node) (\d+)/g],
  ["README.md", /installs Node (\d+)/g],
  ["docs/security.md", /the Node (\d+)/g],
  ["docs/aws-assumptions.md", /Lambda's Node\.js (\d+)/g],
])("names the Node that runs the functions in AWS: %s", (files, place) => {
  const [, version] = /NODEJS_(\d+)_X/.exec(text("infra/api-function.ts")) ?? [];
  const found = globSync(files, { cwd: root }).flatMap((file) => [...text(file).matchAll(place)]);
  expect([...new Set(found.map(([, named]) => named))]).toEqual([version]);
});
