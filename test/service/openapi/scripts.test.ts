import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const generated = ["openapi.json", "openapi-3.0.json"];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-scripts-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a script of openapi/ in a folder, as npm does in that of package.json. */
const run = (script: string, cwd: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(root, "openapi", script), ...args], { cwd });

const notCurrent = (file: string) => `${file} is not current: run \`npm run openapi\`.\n`;

describe("npm run openapi", () => {
  it("writes the committed files", async () => {
    const { stdout, stderr } = await run("generate.ts", folder);
    expect([stdout, stderr]).toEqual([generated.map((file) => `Wrote ${file}.\n`).join(""), ""]);
    for (const file of generated) {
      const [written, committed] = await Promise.all(
        [folder, root].map((from) => readFile(join(from, file), "utf8")),
      );
      if (written !== committed) throw new Error(notCurrent(file));
    }
  });

  it("with --check only reports the files that are missing or not current", async () => {
    for (const file of generated) await cp(join(root, file), join(folder, file));
    expect(await run("generate.ts", folder, "--check")).toEqual({ stdout: "", stderr: "" });

    const [changed = ""] = generated;
    await writeFile(join(folder, changed), "{}");
    await expect(run("generate.ts", folder, "--check")).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: notCurrent(changed),
    });
    expect(await readFile(join(folder, changed), "utf8")).toBe("{}");

    for (const file of generated) await rm(join(folder, file));
    await expect(run("generate.ts", folder, "--check")).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: generated.map(notCurrent).join(""),
    });
    for (const file of generated) expect(await readdir(folder)).not.toContain(file);
  });
});

describe("npm run docs:build", () => {
  it("writes the static site to build/docs, and says where", async () => {
    const { stdout } = await run("build-docs-page.ts", folder);
    expect(stdout).toBe("Wrote build/docs. Open index.html in a browser.\n");
    expect(await readdir(join(folder, "build/docs"))).toContain("index.html");
  });
});

it.each([
  [
    "generate.ts",
    "npm run openapi -- [options] Writes openapi.json and openapi-3.0.json from lib/operations.ts.",
  ],
  ["generate.ts", "--check write nothing, and fail if a file is not current"],
  ["build-docs-page.ts", "npm run docs:build [options] Writes the docs page as a static site to build/docs."],
])("%s --help prints: %s", async (script, help) => {
  const { stdout } = await run(script, folder, "--help");
  expect(stdout.replace(/\s+/g, " ")).toContain(help);
});
