import { mkdtempDisposable, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { formatFile, makeDataFolder, writeSecret } from "../../local/data-folder.ts";

const permissions = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

it("keeps the files of a data folder that it uses again", async () => {
  await using parent = await mkdtempDisposable(join(tmpdir(), "animal-store-"));
  const folder = join(parent.path, "data");
  await makeDataFolder({ DATA_DIR: folder });
  expect(formatFile).toBe("animal-store-format-3"); // with another name, the service would refuse the folders that exist
  expect(await permissions(folder)).toBe("700");
  for (const name of [".gitignore", formatFile]) await writeFile(join(folder, name), "mine");
  await makeDataFolder({ DATA_DIR: folder });
  for (const name of [".gitignore", formatFile])
    expect(await readFile(join(folder, name), "utf8")).toBe("mine");
});

it("replaces a secret, which only its owner can read, also after a write that was interrupted", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-"));
  const file = join(folder.path, "secret");
  for (const name of [file, `${file}.draft`]) await writeFile(name, "old", { mode: 0o644 });
  await writeSecret(file, "new");
  expect(await readFile(file, "utf8")).toBe("new");
  expect(await permissions(file)).toBe("600");
});

it.each([
  ["/dev/null/data", "ENOTDIR: not a directory, mkdir"],
  ["/dev/null", "ENOTDIR: not a directory, scandir"],
  ["/nowhere/data", "ENOENT: no such file or directory, mkdir"],
])("says why %s cannot be the folder", (folder, reason) =>
  expect(makeDataFolder({ DATA_DIR: folder })).rejects.toThrow(
    `The data folder ${folder} cannot be used, see DATA_DIR: ${reason}`,
  ),
);
