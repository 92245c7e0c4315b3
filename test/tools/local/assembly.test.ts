import * as files from "node:fs";
import { mkdir, mkdtempDisposable, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, jest } from "@jest/globals";

let changed = "nothing";
afterEach(() => {
  changed = "nothing";
});
jest.unstable_mockModule("node:fs", () => ({
  ...files,
  readFileSync: (file: string) => `${file.endsWith(changed)}${files.readFileSync(file)}`,
}));
const { functionSources, hashSources, refreshAssembly, templateSources } = await import(
  "../../../tools/local/assembly.ts"
);

it.each([
  ["/functions/get-pet.ts", true, false],
  ["/infra/bundle/lambda-entry.mjs", true, true],
  ["/infra/stages.ts", false, true],
  ["/lib/http/json.ts", true, true],
  ["/cdk.json", true, true],
  ["/node_modules/.package-lock.json", true, true],
])(
  "a change of %s makes another assembly, other functions: %j, and another template: %j",
  (file, ...parts) => {
    const hashes = () => [hashSources(), hashSources(functionSources), hashSources(templateSources)];
    const before = hashes();
    changed = file;
    expect(hashes().map((hash, n) => hash !== before[n])).toEqual([true, ...parts]);
  },
);

it("keeps the assembly of the current sources, and removes everything else", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-assembly-"));
  const current = hashSources();
  for (const name of [current, `${current}.draft`, "1".repeat(32)]) await mkdir(join(folder.path, name));
  expect(await refreshAssembly(folder.path)).toBe(join(folder.path, current));
  expect(await readdir(folder.path)).toEqual([current]);
});
