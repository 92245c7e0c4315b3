import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { type LocalService, startService } from "../../support/local-service.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
let checkout: string;
let service: LocalService;

// In a copy of the sources, whose path has characters that a shell would interpret.
beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), "animal store's copy-"));
  for (const name of [
    "functions",
    "infra",
    "lib",
    "local",
    "openapi",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
  ]) {
    await cp(join(root, name), join(checkout, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(checkout, "node_modules"));
  service = await startService({ DATA_DIR: join(checkout, "data") }, [], {
    entry: join(checkout, "local", "start.ts"),
    args: ["--watch"],
  });
});
afterAll(async () => {
  await service?.stop();
  await rm(checkout, { recursive: true });
});

const message = async () => {
  const response = await fetch(`${service.baseUrl}/pets/1`, {
    headers: { Authorization: `Bearer ${service.key}` },
  });
  return ((await response.json()) as { message: string }).message;
};

it("serves a changed source, and the old one while the source has an error", async () => {
  const file = join(checkout, "lib", "errors.ts");
  const source = await readFile(file, "utf8");
  const original = await message();

  await writeFile(file, source.replace(original, "Changed."));
  await service.printed("The changed sources are served.");
  expect(await message()).toBe("Changed.");

  await writeFile(file, `${source}\n}`);
  await service.printed("The changed sources are not served.");
  expect(service.output()).toContain("errors.ts");
  expect(service.output()).not.toMatch(/node:internal|node_modules/);
  expect(await message()).toBe("Changed.");
}, 120_000);
