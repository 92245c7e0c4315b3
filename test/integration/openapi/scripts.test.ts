import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "@jest/globals";

const root = fileURLToPath(new URL("../../../", import.meta.url));

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-scripts-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a script of openapi/ in a folder, as npm does in that of package.json. */
const run = (script: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(root, "openapi", script), ...args], { cwd: folder });

it("write-document.ts writes the committed document", async () => {
  expect(await run("write-document.ts")).toEqual({ stdout: "Wrote openapi.json.\n", stderr: "" });
  const [written, committed] = await Promise.all(
    [folder, root].map((from) => readFile(join(from, "openapi.json"), "utf8")),
  );
  if (written !== committed) throw new Error("openapi.json is not current: run `npm run generate`.");
});

it("build-docs-page.ts writes the static site to build/docs, and says where", async () => {
  const { stdout } = await run("build-docs-page.ts");
  expect(stdout).toBe("Wrote build/docs. Open index.html in a browser.\n");
  expect(await readdir(join(folder, "build/docs"))).toContain("index.html");
});
