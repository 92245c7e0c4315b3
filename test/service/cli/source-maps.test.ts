import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { readSourceMaps } from "../../../cli/source-maps.ts";
import { readStack } from "../../../local/assembly/template.ts";

const assembly = process.env.TEST_ASSEMBLY ?? "";
const stack = "animal-store-staging";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-maps-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** A source map of a bundle whose line 1, column 5 is line 3, column 2 of the source (ECMA-426). */
const mapOf = (source: string) =>
  JSON.stringify({ version: 3, sources: [source], names: [], mappings: "IAEC" });

/** An assembly in which the source map of getPet has this source. */
async function assemblyWith(source: string): Promise<string> {
  await cp(assembly, folder, { recursive: true });
  const code = readStack(folder, stack).functions.find(({ name }) => name.startsWith("GetPet"))?.code ?? "";
  await writeFile(join(code, "index.js.map"), mapOf(source));
  return folder;
}

it("finds a function by its name in any spelling", async () => {
  const maps = readSourceMaps(await assemblyWith("../../lib/env.ts"), stack);
  for (const name of ["getPet", "get-pet", "GetPet", "GETPET", "get_pet"]) {
    expect(maps(name)(1, 5)).toMatch(/lib\/env\.ts:3:2$/);
  }
});

it("finds the source of a real bundle", async () => {
  const find = readSourceMaps(assembly, stack)("get-pet");
  const { functions } = readStack(assembly, stack);
  const code = functions.find(({ name }) => name.startsWith("GetPet"))?.code ?? "";
  const lines = (await readFile(join(code, "index.js"), "utf8")).split("\n");
  const line = lines.findIndex((text) => text.includes("The environment variable"));
  const column = lines[line]?.indexOf("The environment variable") ?? 0;
  const [path = "", row = ""] = find(line + 1, column + 1)?.split(":") ?? [];
  expect(path).toBe("lib/env.ts");
  const source = await readFile(new URL("../../../lib/env.ts", import.meta.url), "utf8");
  expect(source.split("\n")[Number(row) - 1]).toContain("The environment variable");
});

it("has no source for a position before the first mapping", async () => {
  const find = readSourceMaps(await assemblyWith("../lib/env.ts"), stack)("getPet");
  expect([find(1, 1), find(1, 4)]).toEqual([undefined, undefined]);
});

it("decodes the names of folders, and removes what is above the checkout", async () => {
  const maps = readSourceMaps(await assemblyWith("/elsewhere/it%27s%20here/lib/env.ts"), stack);
  expect(maps("getPet")(1, 5)).toMatch(/^[^.].*elsewhere\/it's here\/lib\/env\.ts:3:2$/);
});

it.each(["", "-", "putPet", "et"])("has no function %j", (name) => {
  expect(() => readSourceMaps(assembly, stack)(name)).toThrow(`There is no function ${name} in ${stack}.`);
});

it("says which stack or source map is missing", async () => {
  expect(() => readSourceMaps("/nonexistent", stack)).toThrow(
    "There is no stack animal-store-staging in /nonexistent.",
  );
  const maps = readSourceMaps(await assemblyWith(""), stack);
  const code = readStack(folder, stack).functions.find(({ name }) => name.startsWith("GetPet"))?.code ?? "";
  await rm(join(code, "index.js.map"));
  expect(() => maps("getPet")).toThrow(
    `${folder} has no source map of getPet: omit --assembly, or run \`npx cdk synth\` again.`,
  );
});
