import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { readSourceMaps } from "../../../cli/source-maps.ts";
import { readStack } from "../../../local/assembly/template.ts";

const assembly = process.env.TEST_ASSEMBLY ?? "";
const stack = "animal-store-staging";

let folder: string;
let mapFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-maps-"));
  await cp(assembly, folder, { recursive: true });
  const getPet = readStack(folder, stack).functions.find(({ name }) => name.startsWith("GetPet"));
  mapFile = join(getPet?.code ?? "", "index.js.map");
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes a source map of getPet whose line 1, column 5 is line 3, column 2 of the source (ECMA-426). */
const writeMap = (source: string) =>
  writeFile(mapFile, JSON.stringify({ version: 3, sources: [source], names: [], mappings: "IAEC" }));

it("finds a function by its name in any spelling", async () => {
  await writeMap("../lib/env.ts");
  const maps = readSourceMaps(folder, stack);
  for (const name of ["getPet", "get-pet", "GETPET", "get_pet"]) {
    expect([maps(name)(1, 4), maps(name)(1, 5)]).toEqual([undefined, "lib/env.ts:3:2"]);
  }
});

it("decodes the names of folders, and removes what is above the checkout", async () => {
  await writeMap("/elsewhere/it%27s%20here/lib/env.ts");
  const find = readSourceMaps(folder, stack)("getPet");
  expect(find(1, 5)).toMatch(/^[^.].*elsewhere\/it's here\/lib\/env\.ts:3:2$/);
});

it.each(["", "-", "putPet", "et"])("has no function %j", (name) => {
  expect(() => readSourceMaps(folder, stack)(name)).toThrow(`There is no function ${name} in ${stack}.`);
});

it("says which stack or source map is missing", async () => {
  expect(() => readSourceMaps("/nonexistent", stack)).toThrow(
    "There is no stack animal-store-staging in /nonexistent.",
  );
  await rm(mapFile);
  expect(() => readSourceMaps(folder, stack)("getPet")).toThrow(
    `${folder} has no source map of getPet: omit --assembly, or run \`npx cdk synth\` again.`,
  );
});
