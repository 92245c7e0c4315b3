import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { makeDataFolder, marker } from "../../../../local/store/data-folder.ts";

it("keeps the files of a data folder that it uses again", async () => {
  await using parent = await mkdtempDisposable(join(tmpdir(), "animal-store-"));
  const folder = join(parent.path, "data");
  await makeDataFolder(folder);
  for (const name of [".gitignore", marker]) await writeFile(join(folder, name), "mine");
  await makeDataFolder(folder);
  for (const name of [".gitignore", marker]) expect(await readFile(join(folder, name), "utf8")).toBe("mine");
});
